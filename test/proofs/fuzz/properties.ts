// What must hold for every plant, every broken plant and every connection.
import { deepStrictEqual, fail, strictEqual } from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import fc, { type Arbitrary } from 'fast-check'
import type { AppOptions } from '../../../src/service/app.ts'
import { request } from '../../fixtures/raw.ts'
import { brokenPlants } from './broken-plants.ts'
import { type Reply, visit } from './client.ts'
import { connectionsPerGroup, firstGroups, type Group, groups } from './connections.ts'
import { members } from './members.ts'
import { type Plant, plannedPlants, type SentPlant, writePlants } from './plants.ts'
import type { Target } from './target.ts'

/** Counts what the cases met, by name. */
export type Count = (name: string, add?: number) => void

export interface Property {
  name: string
  /** Options of the service. */
  options: Partial<AppOptions>
  /** The mean number of cases in a run. */
  casesPerRun: number
  /** Makes the property of a service; `cases` counts under the property's name. */
  of: (target: Target, count: Count) => fc.IAsyncProperty<unknown>
  /** Cases before the random ones, each the list of arguments of the property. */
  examples?: Array<[unknown]>
}

const plantsPerConnection = 9
const patient = { answerMs: 30_000, closeMs: 30_000 }
/** Far below the limits of the service, so that connections that stay cost little time. */
const requestTimeoutMs = { header: 250, whole: 400 }
const impatient = { answerMs: 1200, closeMs: 10_000 }

function several<Case> (one: Arbitrary<Case>): Arbitrary<Case[]> {
  return fc.array(one, { minLength: 1, maxLength: plantsPerConnection, size: 'max' })
}

export const properties: readonly Property[] = [
  {
    name: 'plants',
    options: { bodyLimit: 2 ** 20 },
    casesPerRun: plantsPerConnection / 2,
    of: (target, count) => fc.asyncProperty(several(plannedPlants), async planned => {
      await plantsAreKept(target, count, writePlants(planned))
    })
  },
  {
    name: 'broken-plants',
    options: { bodyLimit: 2 ** 20 },
    casesPerRun: plantsPerConnection / 2,
    of: (target, count) => fc.asyncProperty(several(brokenPlants), async broken => {
      await brokenPlantsAreRefused(target, count, broken.map(({ body }) => body))
    })
  },
  {
    name: 'connections',
    options: { requestTimeoutMs },
    casesPerRun: connectionsPerGroup / 2,
    of: (target, count) => fc.asyncProperty(groups, group => connectionsAreAnswered(target, count, group)),
    examples: firstGroups.map(group => [group])
  }
]

/**
 * Each valid plant gets 200 or 409, as in a Map, and is stored as it was sent, to the digit and
 * character.
 */
async function plantsAreKept (target: Target, count: Count, sent: SentPlant[]): Promise<void> {
  const model = new Map<unknown, Plant>()
  const expected = sent.map(({ plant }) => {
    const first = model.get(plant.id) ?? plant
    if (model.has(plant.id) && isDeepStrictEqual(first, plant)) count('the same plant again')
    model.set(plant.id, first)
    return isDeepStrictEqual(first, plant) ? 200 : 409
  })
  const replies = await post(target, count, sent.map(({ body }) => Buffer.from(body).toString('latin1')))
  deepStrictEqual(replies.map(({ status }) => status), expected)
  for (const [index, reply] of replies.entries()) {
    const { id, ...content } = sent[index]?.plant ?? {}
    if (reply.status !== 200) continue
    deepStrictEqual(exact(JSON.parse(reply.body, readExactly)), exact(content), 'the response has the plant')
  }
  const [stored, kept] = [target.stored().map(fromColumns), [...model.values()]].map(plants => new Set(plants.map(exact)))
  deepStrictEqual(stored, kept, 'the plants are stored as they were sent')
  count('plants', sent.length)
}

function readExactly (_name: string, value: unknown, context?: { source?: string }): unknown {
  const { source = '' } = context ?? {}
  return typeof value === 'number' && /^-?\d+$/.test(source) ? BigInt(source) : value
}

/** SQLite has booleans as integers, and lists, objects and unions as their JSON. */
function fromColumns (row: Plant): Plant {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => {
    const { type, oneOf, anyOf } = members.find(member => member.name === name)?.schema ?? {}
    if (type === 'boolean') return [name, value === 1n]
    const isJson = type === 'array' || type === 'object' || oneOf !== undefined || anyOf !== undefined
    return [name, isJson ? JSON.parse(String(value), readExactly) : value]
  }))
}

/** A value with a bigint for each number that JSON.stringify() writes as an integer. */
function exact (value: unknown): unknown {
  if (typeof value === 'number') return /^-?\d+$/.test(String(value)) ? BigInt(String(value)) : value
  if (Array.isArray(value)) return value.map(exact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, exact(member)]))
}

/** Each broken plant gets 400, and nothing is stored. */
async function brokenPlantsAreRefused (target: Target, count: Count, bodies: string[]): Promise<void> {
  const replies = await post(target, count, bodies)
  deepStrictEqual(replies.map(({ status }) => status), bodies.map(() => 400))
  deepStrictEqual(target.stored(), [], 'nothing is stored')
  count('broken-plants', bodies.length)
}

/** Sends the bodies over one connection at once. The store is empty before. */
async function post (target: Target, count: Count, bodies: string[]): Promise<Reply[]> {
  target.clear()
  const last = bodies.length - 1
  const requests = bodies.map((body, index) => request(body, index === last ? ['Connection: close'] : []))
  const { replies, hung } = await visit(target.port, [requests.join('')], 'halfClose', patient)
  strictEqual(hung, undefined)
  for (const reply of replies) checkReply(reply, count)
  return replies
}

/**
 * Each connection ends or is idle within the time limits. No response is 5xx except 501 and 505,
 * and every error has the contract's shape. The stored plants are those that were answered 200, as
 * far as a client can know, and the service still takes plants.
 */
async function connectionsAreAnswered (target: Target, count: Count, { connections, ending }: Group): Promise<void> {
  target.clear()
  target.takeAnswers()
  const visits = await Promise.all(connections.map(pieces => visit(target.port, pieces, ending, impatient)))
  const replies = visits.flatMap(({ replies }) => replies)
  for (const reply of replies) checkReply(reply, count)
  for (const { hung } of visits) strictEqual(hung, undefined)
  await stillTakesPlants(target)
  deepStrictEqual(target.takeErrors(), [], 'the log has no error')
  const stored = new Set(target.stored().filter(({ id }) => id !== probeId).map(contentOf))
  const received = new Set(replies.filter(({ status }) => status === 200).flatMap(({ body }) => plantIn(body)))
  const sent = new Set(target.takeAnswers().flatMap(plantIn))
  deepStrictEqual([...received].filter(plant => !stored.has(plant)), [], 'no plant is acknowledged but not stored')
  deepStrictEqual([...stored].filter(plant => !sent.has(plant)), [], 'no plant is stored without a response 200')
  if (ending !== 'reset' && !visits.some(({ wasReset }) => wasReset)) {
    deepStrictEqual([...stored].filter(plant => !received.has(plant)), [], 'every response 200 arrives')
    count('group whose responses all arrived')
  }
  count(`ending: ${ending}`, connections.length)
  count('plant hidden in a connection and stored', stored.size)
  count('connections', connections.length)
}

/** The connections make no plant with this id. */
const probeId = -5_000_000_000n

/**
 * A valid plant on another connection gets 200. On a busy machine its bytes may come too late: 408
 * is no fault.
 */
async function stillTakesPlants (target: Target): Promise<void> {
  const probe = request(`{"id":${probeId},"name":"probe"}`, ['Connection: close'])
  let reply
  do [reply] = (await visit(target.port, [probe], 'halfClose', impatient)).replies
  while (reply?.status === 408)
  strictEqual(reply?.status, 200, 'the service still takes plants')
}

function contentOf ({ name, tag }: Record<string, unknown>): string {
  return JSON.stringify({ name, tag })
}

/** The plant in the body of a response 200; none in those of other paths. */
function plantIn (body: string): string[] {
  return body.startsWith('{"name":') ? [contentOf(JSON.parse(body))] : []
}

/**
 * Fails for an error without the contract's shape, and for 5xx except 501 and 505, which unknown
 * codings and versions get.
 */
function checkReply ({ status, headers, body }: Reply, count: Count): void {
  count(`status: ${status}`)
  if (status >= 500 && ![501, 505].includes(status)) fail(`The service answered ${status}: ${body}`)
  if (status < 400) return
  strictEqual(headers['content-type'], 'application/json; charset=utf-8')
  // A response to HEAD has no body.
  if (body === '') return count('error without a body')
  const { error, message, ...rest } = JSON.parse(body)
  deepStrictEqual({ error, message: typeof message, rest }, { error: status, message: 'string', rest: {} })
}
