// The places that the copy reads and writes: stores, NDJSON files, and standard input and output.
import { createCompiler, readJson } from 'fastify-openapi-contract/schema'
import { once } from 'node:events'
import { createReadStream, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { schemas } from '../../generated/operations.ts'
import { plantOf } from '../plants/plant.ts'
import { allPlants, type NewPlant, type PlantStore } from '../plants/plant-store.ts'
import { createPlantFile, readPlants, writeTo } from '../stores/ndjson.ts'
import {
  checkStoreUrl, isStoreUrl, lacksFile, openStore, sqlitePath, storeForms, unknownStore
} from '../stores/open.ts'
import { chunkPlants, type CopyOptions, type Source } from './copy-plants.ts'

/** The arguments are wrong. */
export class ArgumentError extends Error {}

/** Refuses a URL of which there is no store, or that the service would refuse. */
export function checkPlace (name: 'FROM' | 'TO', place: string): void {
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

export async function openSource (from: string): Promise<Source & { close: () => Promise<void> }> {
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
  const other = file.isFile() ? await otherFormatOf(from) : undefined
  if (other !== undefined) throw new ArgumentError(`${from} ${other}.`)
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

/** The first bytes of gzip, zstd and xz. */
const compressed = ['\x1f\x8b', '\x28\xb5\x2f\xfd', '\xfd7zXZ']

/** What a file is that is no NDJSON, and what to do. Compressed NDJSON would be bad lines alone. */
async function otherFormatOf (path: string): Promise<string | undefined> {
  const start = createReadStream(path, { end: 14, encoding: 'latin1' })
  const [header = ''] = await Array.fromAsync(start)
  if (header === 'SQLite format 3') return `is a SQLite database: write sqlite:${path}`
  if (header.startsWith('PGDMP')) return 'is a dump of PostgreSQL: restore it by pg_restore'
  const isCompressed = compressed.some(bytes => header.startsWith(bytes))
  return isCompressed ? 'is compressed: decompress it, or pass its content by a pipe' : undefined
}

interface Target extends Pick<CopyOptions, 'add'> {
  /** Completes or discards the output. */
  close: (isComplete: boolean) => Promise<void>
}

export async function openTarget (to: string, output: Writable): Promise<Target> {
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

/**
 * Parses a line by the contract's NewPlant schema. Says once of each other member that it is left
 * out, as of a file that a newer version wrote.
 */
function createParser (): (bytes: Buffer) => NewPlant {
  const validate = createCompiler(schemas, 'request')({ $ref: 'NewPlant#' })
  const leftOut = new Set<string>()
  return bytes => {
    const line = readJson(validate, bytes)
    if (line.fault !== undefined) {
      const { path, problem } = line.fault
      throw new Error(`${path === '' ? 'The line' : `"${path}"`} ${problem}.`)
    }
    const { id, name, tag } = line.value as NewPlant
    const plant = plantOf({ id, name, tag })
    for (const member of Object.keys(line.value as NewPlant)) {
      const isKnown = Object.hasOwn(plant, member) || leftOut.has(member)
      if (isKnown || leftOut.size === maxLeftOut) continue
      leftOut.add(member)
      const reason = 'which the contract does not have'
      console.error(`The copy leaves out the member ${JSON.stringify(member)}, ${reason}.`)
    }
    return plant
  }
}

/** Names of members that a file may make the copy say and keep in memory. */
const maxLeftOut = 10
