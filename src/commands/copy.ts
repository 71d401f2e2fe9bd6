// npm run copy -- FROM TO: copies plants between stores and NDJSON files; `-` is standard input or output. It moves
// plants to another engine, makes backups and shows a store's content. A second run completes an interrupted copy.
import { createWriteStream, existsSync, fstatSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Presets, SingleBar } from 'cli-progress'
import { schemas } from '../../generated/operations.ts'
import { createCompiler, readJson } from '../contract/schema/index.ts'
import type { Fault } from '../contract/schema/index.ts'
import { createPrivately } from '../own-files.ts'
import { allPlants } from '../plants/plant-store.ts'
import type { NewPlant, Outcome } from '../plants/plant-store.ts'
import { createPlantFile, openFile, readPlants, writeTo } from '../stores/ndjson.ts'
import type { BadLine } from '../stores/ndjson.ts'
import { isStoreUrl, openStore, sqlitePath, unknownStore } from '../stores/open.ts'

const usage = `Usage: npm run copy -- [--fail-fast] FROM TO
       plant-store copy [--fail-fast] FROM TO

FROM and TO are each sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE, memory:, the path of an NDJSON file,
or - for standard input or output (then: npm run --silent copy). Plants that are already in TO stay as they are.
--fail-fast stops at the first bad line or conflict; without it the rest is copied, and the exit code is 1.`

/** Size limits of a chunk. */
const chunkPlants = 5000
const chunkCharacters = 4 * 1024 * 1024
/** Time between progress lines if stderr is not a terminal. */
const progressIntervalMs = 2000

interface Source {
  plants: AsyncIterable<NewPlant | BadLine>
  /** Progress in plants or in bytes. */
  position: () => number
  /** The final position, if known. */
  total: number | undefined
  close: () => Promise<void>
}

interface Target {
  add: (plants: readonly NewPlant[]) => Promise<Outcome[]>
  close: (complete: boolean) => Promise<void>
}

createPrivately()

// When the disk is full, process.stdout drops the bytes that a file does not take, without an error.
const output = fstatSync(1).isFile() ? createWriteStream('', { fd: 1, autoClose: false }) : process.stdout
output.on('error', (error: NodeJS.ErrnoException) => {
  const isUnread = error.code === 'EPIPE'
  console.error(isUnread
    ? 'The reader of the output has ended, so the copy is not complete.'
    : `The output cannot be written: ${error.message}.`)
  // The exit code of programs that SIGPIPE ends, as `| head` lets them end.
  process.exit(isUnread ? 141 : 1)
})

const tally = { added: 0, unchanged: 0, conflict: 0, bad: 0 }
const processed = () => tally.added + tally.unchanged + tally.conflict + tally.bad
const number = new Intl.NumberFormat('en')
/** The exit code for the signal that has arrived. */
let interrupted: number | undefined
for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
  process.once(signal, () => {
    interrupted = code
    // Ends a pending read.
    process.stdin.destroy()
  })
}

try {
  process.exitCode = await copy()
} catch (error) {
  const { message, cause } = error as Error
  console.error(cause instanceof Error ? `${message} (${cause.message})` : message)
  process.exitCode = 1
}

async function copy (): Promise<number> {
  const { from, to, failFast } = readArguments()
  const source = await openSource(from)
  try {
    const target = await openTarget(to)
    let complete = false
    try {
      complete = await copyPlants(source, target, failFast)
    } finally {
      await target.close(complete)
    }
  } finally {
    await source.close()
  }
  return interrupted ?? (tally.conflict + tally.bad > 0 ? 1 : 0)
}

function readArguments (): { from: string, to: string, failFast: boolean } {
  const options = {
    'fail-fast': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false }
  } as const
  const { values, positionals: [from, to, ...more] } = parseArgs({ options, allowPositionals: true })
  if (values.help) {
    console.log(usage)
    process.exit(0)
  }
  if (from === undefined || to === undefined || more.length > 0) throw new Error(usage)
  return { from, to, failFast: values['fail-fast'] }
}

/** Copies all plants; reads the next chunk while the last one is added. Resolves to whether it finished. */
async function copyPlants ({ plants, position, total }: Source, target: Target, failFast: boolean): Promise<boolean> {
  const began = performance.now()
  const progress = showProgress(position, total)
  const stop = () => interrupted !== undefined || (failFast && tally.conflict + tally.bad > 0)
  let chunk: NewPlant[] = []
  let text = 0
  let adding = Promise.resolve()
  const flush = async () => {
    const sent = chunk
    chunk = []
    text = 0
    await adding
    adding = target.add(sent).then(outcomes => {
      outcomes.forEach((outcome, index) => count(outcome, sent[index] as NewPlant))
    })
    // Prevents an unhandled rejection; `await adding` reports the failure.
    adding.catch(() => {})
    progress.update()
  }
  try {
    for await (const plant of plants) {
      if ('problem' in plant) report(`line ${plant.line}: ${plant.problem}`, 'bad')
      else {
        text += plant.name.length + (plant.tag?.length ?? 0)
        if (chunk.push(plant) === chunkPlants || text > chunkCharacters) await flush()
      }
      if (stop()) break
    }
    if (!stop()) await flush()
    await adding
  } catch (error) {
    // The signal has destroyed stdin, so the read fails.
    if (interrupted === undefined) throw error
    await adding
  } finally {
    progress.stop()
    summarize(performance.now() - began)
  }
  return !stop()
}

function count (outcome: Outcome, { id }: NewPlant): void {
  const conflict = `conflict: another plant has the id ${id}; the stored plant does not change`
  if (outcome === 'conflict') report(conflict, 'conflict')
  else tally[outcome]++
}

function report (sentence: string, kind: 'bad' | 'conflict'): void {
  console.error(sentence)
  tally[kind]++
}

/** A progress bar on a terminal; a line every two seconds elsewhere. */
function showProgress (position: () => number, total: number | undefined): { update: () => void, stop: () => void } {
  const began = performance.now()
  const figures = () => ({ plants: number.format(processed()), rate: perSecond(performance.now() - began) })
  if (!process.stderr.isTTY) {
    const timer = setInterval(() => {
      const { plants, rate } = figures()
      const percentage = total === undefined ? '' : `, ${Math.floor(position() / total * 100)} %`
      console.error(`${plants} plants, ${rate}/s${percentage}`)
    }, progressIntervalMs)
    return { update: () => {}, stop: () => clearInterval(timer) }
  }
  const counts = '{plants} plants | {rate}/s'
  const format = total === undefined ? counts : `{bar} {percentage} % | ${counts} | {eta_formatted} left`
  const bar = new SingleBar({ format, stream: process.stderr }, Presets.shades_classic)
  const update = () => bar.update(position(), figures())
  bar.start(total ?? 0, 0, figures())
  return {
    update,
    stop () {
      update()
      bar.stop()
    }
  }
}

function perSecond (milliseconds: number): string {
  return number.format(Math.round(processed() / Math.max(milliseconds, 1) * 1000))
}

function summarize (milliseconds: number): void {
  const { added, unchanged, conflict, bad } = tally
  const [a, u, c, b] = [added, unchanged, conflict, bad].map(count => number.format(count))
  const time = `${(milliseconds / 1000).toFixed(1)} s (${perSecond(milliseconds)}/s)`
  console.error(`${a} added, ${u} unchanged, ${c} in conflict, ${b} bad lines, in ${time}`)
  if (interrupted !== undefined) console.error('Interrupted. Run it again to complete the copy.')
}

async function openSource (from: string): Promise<Source> {
  if (isStore(from)) {
    const path = sqlitePath(from)
    // openStore() would create a missing file.
    if (path !== undefined && !existsSync(path)) throw new Error(`There is no database ${path}.`)
    const store = await openStore(from, { maxQueue: 1, onWarning: console.error })
    // Only the progress bar needs the count: ignore its failure.
    const total = await store.count().catch(() => undefined)
    return { plants: allPlants(store), position: processed, total, close: store.close }
  }
  const { stream, position, size } = from === '-' ? standardInput() : await openFile(from)
  return { plants: readPlants(stream, lineReader()), position, total: size, close: async () => {} }
}

function standardInput () {
  return { stream: process.stdin, position: processed, size: undefined }
}

async function openTarget (to: string): Promise<Target> {
  if (isStore(to)) {
    const store = await openStore(to, { maxQueue: 2 * chunkPlants, onWarning: console.error })
    return { add: plants => Promise.all(plants.map(plant => store.add(plant))), close: store.close }
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

function isStore (place: string): boolean {
  if (isStoreUrl(place)) return true
  if (/^\s*(?:[a-z][a-z\d+.-]+:|postgres(?:ql)?\/)|^\/\/.*@/i.test(place)) throw unknownStore(place)
  return false
}

/** Parses a line by the contract's NewPlant schema. */
function lineReader (): (bytes: Buffer) => NewPlant {
  const validate = createCompiler(schemas, 'request')({ $ref: 'NewPlant#' })
  return bytes => {
    const line = readJson(validate, bytes)
    if (line.fault !== undefined) throw new Error(sentence(line.fault))
    const { id, name, tag } = line.value as NewPlant
    return tag === undefined ? { id, name } : { id, name, tag }
  }
}

function sentence ({ path, problem }: Fault): string {
  return `${path === '' ? 'The line' : `"${path}"`} ${problem}.`
}
