// npm run copy -- FROM TO: copies plants between stores and NDJSON files; `-` is standard input or
// output. It moves plants to another engine, makes backups and shows a store's content. A second
// run completes an interrupted copy.
import { createWriteStream, fstatSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { parseOptions } from '../contract/cli/parse-options.ts'
import { createPrivately } from '../private-files.ts'
import { StoreUnavailable } from '../plants/plant-store.ts'
import { isStoreUrl } from '../stores/open.ts'
import { copyPlants } from './copy-plants.ts'
import { ArgumentError, checkPlace, openSource, openTarget } from './copy-places.ts'

const usage = `Usage: npm run copy -- [--fail-fast] FROM TO
       plant-store copy [--fail-fast] FROM TO

FROM and TO are each sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE, memory:, \
the path of an NDJSON file,
or - for standard input or output (then: npm run --silent copy). \
Plants that are already in TO stay as they are.
--fail-fast stops at the first bad line or conflict; \
without it the rest is copied, and the exit code is 1. A mistake in the arguments is 2.
PGPASSWORD and other variables of PostgreSQL come from the environment: a copy does not read .env.`

/** Does what the arguments ask for, and sets the exit code. */
export async function runCopy (args: string[]): Promise<void> {
  createPrivately()
  try {
    const copied = readArguments(args)
    if (copied === undefined) console.log(usage)
    else process.exitCode = await copy(copied)
  } catch (error) {
    // The message of a StoreUnavailable is for callers of the service.
    const reason = (error instanceof StoreUnavailable && error.cause) || error
    console.error((reason as Error).message)
    process.exitCode = error instanceof ArgumentError ? 2 : 1
  }
}

interface Arguments { from: string, to: string, failFast: boolean }

/** Undefined: only the usage is asked for. */
function readArguments (args: string[]): Arguments | undefined {
  const options = {
    'fail-fast': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false }
  } as const
  try {
    const { values, positionals } = parseOptions({ args, options, allowPositionals: true })
    if (values.help) return undefined
    const [from, to, ...more] = positionals
    if (from === undefined || to === undefined || more.length > 0) {
      const given = `got ${positionals.length} argument${positionals.length === 1 ? '' : 's'}`
      throw new Error(`The copy needs FROM and TO, and ${given}.\n${usage}`)
    }
    checkPlace('FROM', from)
    checkPlace('TO', to)
    if (!isStoreUrl(to) && /\.(?:db|sqlite3?)$/i.test(to)) {
      const wayOut = `write sqlite:${to}, or name a file of lines otherwise`
      throw new Error(`${to} has the name of a database: ${wayOut}.`)
    }
    return { from, to, failFast: values['fail-fast'] }
  } catch (error) {
    throw new ArgumentError((error as Error).message)
  }
}

/** Resolves to the exit code. */
async function copy ({ from, to, failFast }: Arguments): Promise<number> {
  const output = openOutput()
  const signal = abortOnSignal()
  const source = await openSource(from)
  try {
    const target = await openTarget(to, output)
    let isComplete = false
    try {
      const result = await copyPlants(source, { add: target.add, failFast, signal })
      isComplete = result.isComplete
      return signal.reason ?? (result.hasProblems ? 1 : 0)
    } finally {
      await target.close(isComplete)
    }
  } finally {
    await source.close()
  }
}

/** When the disk is full, process.stdout drops what a file does not take, without an error. */
function openOutput (): Writable {
  const isFile = fstatSync(1).isFile()
  const output = isFile ? createWriteStream('', { fd: 1, autoClose: false }) : process.stdout
  return output.on('error', (error: NodeJS.ErrnoException) => {
    const isUnread = error.code === 'EPIPE'
    console.error(isUnread
      ? 'The reader of the output has ended, so the copy is not complete.'
      : `The output cannot be written: ${error.message}.`)
    // The exit code of programs that SIGPIPE ends, as `| head` lets them end.
    process.exit(isUnread ? 141 : 1)
  })
}

/** Aborts with the exit code of the signal that has arrived. */
function abortOnSignal (): AbortSignal {
  const controller = new AbortController()
  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
    process.once(signal, () => {
      controller.abort(code)
      // Ends a pending read.
      process.stdin.destroy()
    })
  }
  return controller.signal
}
