// Copies plants from a source to a target in chunks, and reports problems and progress on stderr.
import { Presets, SingleBar } from 'cli-progress'
import { charactersOf } from '../plants/plant.ts'
import type { NewPlant, Outcome } from '../plants/plant-store.ts'
import type { BadLine } from '../stores/ndjson.ts'

export interface Source {
  plants: AsyncIterable<NewPlant | BadLine>
  /** How far the source is read; by default the number of plants. */
  position?: () => number
  /** The final position, if known. */
  total: number | undefined
}

export interface CopyOptions {
  add: (plants: readonly NewPlant[]) => Promise<Outcome[]>
  /** Whether the first bad line or conflict ends the copy. */
  failFast: boolean
  /** Ends the copy. */
  signal: AbortSignal
}

/** Size limits of a chunk. */
export const chunkPlants = 5000
const chunkCharacters = 4 * 1024 * 1024
/** Time between progress lines if stderr is not a terminal. */
const progressIntervalMs = 2000

const format = new Intl.NumberFormat('en').format

/** Counts plants and lines, and reports the problems among them. */
class Tally {
  readonly #began = performance.now()
  readonly #counts = { added: 0, unchanged: 0, conflict: 0, bad: 0 }

  get processed (): number {
    const { added, unchanged, conflict, bad } = this.#counts
    return added + unchanged + conflict + bad
  }

  get hasProblems (): boolean {
    return this.#counts.conflict + this.#counts.bad > 0
  }

  countLine ({ line, problem }: BadLine): void {
    console.error(`line ${line}: ${problem}`)
    this.#counts.bad++
  }

  countPlant (outcome: Outcome, { id }: NewPlant): void {
    const effect = 'the stored plant does not change'
    if (outcome === 'conflict') console.error(`conflict: another plant has the id ${id}; ${effect}`)
    this.#counts[outcome]++
  }

  rate (): string {
    const milliseconds = Math.max(performance.now() - this.#began, 1)
    return format(Math.round(this.processed / milliseconds * 1000))
  }

  summary (): string {
    const { added, unchanged, conflict, bad } = this.#counts
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1)
    const known = `${format(added)} added, ${format(unchanged)} unchanged`
    const problems = `${format(conflict)} in conflict, ${format(bad)} bad lines`
    return `${known}, ${problems}, in ${seconds} s (${this.rate()}/s)`
  }
}

/** Copies all plants; reads the next chunk while the last one is added. */
export async function copyPlants (
  { plants, total, position }: Source,
  { add, failFast, signal }: CopyOptions
): Promise<{ hasProblems: boolean, isComplete: boolean }> {
  const tally = new Tally()
  const progress = showProgress(tally, position ?? (() => tally.processed), total)
  const isStopped = () => signal.aborted || (failFast && tally.hasProblems)
  let chunk: NewPlant[] = []
  let characters = 0
  let adding = Promise.resolve()

  async function addChunk (): Promise<void> {
    const added = chunk
    chunk = []
    characters = 0
    await adding
    adding = add(added).then(outcomes => {
      for (const [index, plant] of added.entries()) {
        tally.countPlant(outcomes[index] as Outcome, plant)
      }
    })
    // Prevents an unhandled rejection; `await adding` reports the failure.
    adding.catch(() => {})
    progress.update()
  }

  try {
    for await (const plant of plants) {
      if ('problem' in plant) tally.countLine(plant)
      else {
        chunk.push(plant)
        characters += charactersOf(plant)
        if (chunk.length === chunkPlants || characters > chunkCharacters) await addChunk()
      }
      if (isStopped()) break
    }
    if (!isStopped()) await addChunk()
    await adding
  } catch (error) {
    // The signal has destroyed stdin, so the read fails.
    if (!signal.aborted) throw error
    await adding
  } finally {
    progress.stop()
    console.error(tally.summary())
    if (signal.aborted) console.error('Interrupted: the copy is not complete. Run it again.')
  }
  return { hasProblems: tally.hasProblems, isComplete: !isStopped() }
}

/** A progress bar on a terminal; a line every two seconds elsewhere. */
function showProgress (tally: Tally, position: () => number, total: number | undefined) {
  const figures = () => ({ plants: format(tally.processed), rate: tally.rate() })
  if (!process.stderr.isTTY) {
    const timer = setInterval(() => {
      const { plants, rate } = figures()
      const share = total === undefined ? '' : `, ${Math.floor(position() / total * 100)} %`
      console.error(`${plants} plants, ${rate}/s${share}`)
    }, progressIntervalMs)
    return { update: () => {}, stop: () => clearInterval(timer) }
  }
  let line = '{plants} plants | {rate}/s'
  if (total !== undefined) line = `{bar} {percentage} % | ${line} | {eta_formatted} left`
  const bar = new SingleBar({ format: line, stream: process.stderr }, Presets.shades_classic)
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
