// npm run copy -- FROM TO: copies plants between stores and NDJSON files; `-` is standard input or
// output. It moves plants to another engine, makes backups and shows a store's content. A second
// run completes an interrupted copy.
import { createCompiler, readJson } from 'fastify-openapi-contract/schema'
import { once } from 'node:events'
import { createReadStream, createWriteStream, fstatSync, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { schemas } from '../../generated/operations.ts'
import { parseOptions } from '../contract/cli/parse-options.ts'
import { createPrivately } from '../private-files.ts'
import { plantOf } from '../plants/plant.ts'
import {
  allPlants, type NewPlant, type PlantStore, StoreUnavailable
} from '../plants/plant-store.ts'
import { createPlantFile, readPlants, writeTo } from '../stores/ndjson.ts'
import {
  checkStoreUrl, isStoreUrl, lacksFile, openStore, sqlitePath, storeForms, unknownStore
} from '../stores/open.ts'
import { chunkPlants, type CopyOptions, copyPlants, type Source } from './copy-plants.ts'

const usage = `Usage: npm run copy -- [--fail-fast] FROM TO
       plant-store copy [--fail-fast] FROM TO

FROM and TO are each sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE, memory:, \
the path of an NDJSON file,
or - for standard input or output (then: npm run --silent copy). \
Plants that are already in TO stay as they are.
--fail-fast stops at the first bad line or conflict; \
without it the rest is copied, and the exit code is 1. A mistake in the arguments is 2.`

/** The arguments are wrong. */
class ArgumentError extends Error {}

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

/** Refuses a URL of which there is no store, or that the service would refuse. */
function checkPlace (name: 'FROM' | 'TO', place: string): void {
  if (isStoreUrl(place)) {
    try {
      checkStoreUrl(place)
    } catch (error) {
      throw new Error(`${name} ${(error as Error).message}.`)
    }
  } else if (/^\s*(?:[a-z][a-z\d+.-]+:|postgres(?:ql)?\/)|^\/\/.*@/i.test(place)) {
    throw unknownStore(place)
  } else if (/:\/\/|password\s*=/i.test(place)) {
    // Not shown: it may have a password.
    throw new Error(`${name} has an address or a password beside other text: use ${storeForms}.`)
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

async function openSource (from: string): Promise<Source & { close: () => Promise<void> }> {
  if (isStoreUrl(from)) {
    // openStore() would create a missing file.
    if (lacksFile(from)) {
      throw new ArgumentError(`There is no database ${sqlitePath(from)}: correct the path.`)
    }
    const store = await openPlace('FROM', from, 1)
    // Only the progress bar needs the count: ignore its failure.
    const total = await store.count().catch(() => undefined)
    return { plants: allPlants(store), total, close: store.close }
  }
  const close = async () => {}
  const parse = createParser()
  if (from === '-') return { plants: readPlants(process.stdin, parse), total: undefined, close }
  const file = await statOf(from)
  if (file.isDirectory()) throw new ArgumentError(`${from} is a folder: name a file in it.`)
  // What a pipe has is read only once.
  if (file.isFile() && await isDatabase(from)) {
    throw new ArgumentError(`${from} is a SQLite database: write sqlite:${from}.`)
  }
  const stream = createReadStream(from)
  await once(stream, 'open')
  const position = () => stream.bytesRead
  return { plants: readPlants(stream, parse), position, total: file.size, close }
}

/** Opens a store, whose sentences name the argument and not a variable of the service. */
function openPlace (name: 'FROM' | 'TO', url: string, maxQueue: number): Promise<PlantStore> {
  const inWords = (sentence: string) => sentence.replaceAll('DATABASE_URL', name)
  const onWarning = (sentence: string) => console.error(inWords(sentence))
  return openStore(url, { maxQueue, onWarning }).catch(({ message }: Error) => {
    throw new Error(inWords(message))
  })
}

async function statOf (path: string): Promise<Stats> {
  try {
    return await stat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new ArgumentError(`There is no file ${path}; a store is ${storeForms}.`)
  }
}

/** See "Database File Format" of SQLite. */
async function isDatabase (path: string): Promise<boolean> {
  const [header] = await Array.fromAsync(createReadStream(path, { end: 14 }))
  return String(header) === 'SQLite format 3'
}

interface Target extends Pick<CopyOptions, 'add'> {
  /** Completes or discards the output. */
  close: (isComplete: boolean) => Promise<void>
}

async function openTarget (to: string, output: Writable): Promise<Target> {
  if (isStoreUrl(to)) {
    const store = await openPlace('TO', to, 2 * chunkPlants)
    return {
      add: plants => Promise.all(plants.map(plant => store.add(plant))),
      close: store.close
    }
  }
  const writer = to === '-' ? writeTo(output) : createPlantFile(to)
  return {
    async add (plants) {
      await writer.write(plants)
      return plants.map(() => 'added')
    },
    close: writer.end
  }
}

/** Parses a line by the contract's NewPlant schema. */
function createParser (): (bytes: Buffer) => NewPlant {
  const validate = createCompiler(schemas, 'request')({ $ref: 'NewPlant#' })
  return bytes => {
    const line = readJson(validate, bytes)
    if (line.fault !== undefined) {
      const { path, problem } = line.fault
      throw new Error(`${path === '' ? 'The line' : `"${path}"`} ${problem}.`)
    }
    const { id, name, tag } = line.value as NewPlant
    return plantOf({ id, name, tag })
  }
}
