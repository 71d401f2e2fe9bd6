// One schedule: services, clients and faults for some seconds, then a time without faults, then the
// end.
import type { NewPlant } from '../../../src/plants/plant-store.ts'
import { createPostgresEngine, type PostgresEngine } from '../../../src/stores/postgres/engine.ts'
import {
  createStatementRunner, type StatementRunner
} from '../../../src/stores/postgres/statements.ts'
import { createBatchEngines } from './batch-engine.ts'
import { type Cluster, createCluster, hadStandbySince, heal, startFault } from './cluster.ts'
import type { FaultRates } from './network.ts'
import { createProcess, type Process } from './process.ts'
import { createPool } from './pool.ts'
import { createProperties, type Properties, type Violation } from './properties.ts'
import { commitLevels, type Data } from './server.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'
import { createWorld, type Recording, type World } from './world.ts'

/** Virtual time after which a schedule that is still running hangs. */
const longestScheduleMs = 30 * 60 * 1000
/** Two of these in a batch reach its limit of text. */
const longName = 'x'.repeat(3 * 1024 * 1024)

/** Where services store plants: a PostgreSQL that they share, or one engine each. */
interface Database {
  durable: () => Data
  start: (name: string) => Promise<Service>
  addFault: () => void
  heal: () => Promise<void>
}

/** Runs the schedule of a seed and returns the violated properties. */
export async function runSchedule (seed: number, recording: Recording): Promise<Violation[]> {
  const world = createWorld(seed, recording)
  const properties = createProperties(world)
  const database = world.chance(0.2) ? batchDatabase(world, properties) : postgresDatabase(world, properties)
  properties.observe(database.durable)
  let isOver = false
  tell(world, properties, database).then(() => { isOver = true }, error => {
    properties.fail('liveness', `the schedule failed: ${(error as Error).stack}`)
    isOver = true
  })
  await world.run(longestScheduleMs)
  if (!isOver) properties.fail('liveness', 'the schedule never ended')
  properties.finish()
  return properties.violations
}

async function tell (world: World, properties: Properties, database: Database): Promise<void> {
  const names = ['S1', 'S2', 'S3'].slice(0, world.pick([1, 1, 2, 3]))
  const services = await Promise.all(names.map(database.start))
  const untilMs = world.clock.now() + world.between(2000, 25_000)
  const clients = Array.from({ length: world.pick([1, 2, 4, 8]) }, (_, index) => {
    return runClient(world, services, BigInt(100 * (index + 1)), untilMs)
  })
  if (world.chance(0.2)) clients.push(race(world, services, untilMs))
  if (world.chance(0.2)) pauseSometimes(world, services, untilMs)
  for (let faults = world.pick([0, 1, 2, 4, 8]); faults > 0; faults--) {
    world.after(world.between(0, untilMs - world.clock.now()), database.addFault)
  }
  const closing = services.filter(() => world.chance(0.2)).map(
    service => closeSometime(world, service, untilMs)
  )
  await world.sleep(untilMs - world.clock.now())
  world.note(() => 'the faults end')
  await database.heal()
  world.note(() => 'everything works again')
  const all = [...services, await database.start('S4')]
  await probe(world, properties, all)
  await Promise.all([...clients, ...closing])
  await Promise.all(all.map(service => service.close()))
}

/** After the last fault, every open service stores a plant as soon as its queue has room. */
async function probe (world: World, properties: Properties, services: Service[]): Promise<void> {
  await Promise.all(services.map(async (service, index) => {
    const plant = { id: BigInt(-1 - index), name: 'probe' }
    let outcome = await service.add(plant)
    for (; outcome === 'overloaded'; outcome = await service.add(plant)) await world.sleep(500)
    // A process that stood still may get an old error first, and try again.
    const isStored = outcome === 'added' || outcome === 'unchanged'
    const isClosed = outcome === 'closed' && service.isClosed
    if (!isStored && !isClosed) {
      properties.fail(
        'liveness', `${service.name} works no more: ${outcome}`
      )
    }
  }))
}

async function closeSometime (world: World, service: Service, untilMs: number): Promise<void> {
  await world.sleep(world.between(0, untilMs - world.clock.now()))
  const again = world.chance(0.5) ? [world.sleep(world.between(0, 3000)).then(service.close)] : []
  await Promise.all([service.close(), ...again])
}

function pauseSometimes (world: World, services: Service[], untilMs: number): void {
  for (const { process } of services) {
    world.after(
      world.between(0, untilMs - world.clock.now()),
      () => process.pause(world.pick([20, 1000, 9000]))
    )
  }
}

/** Adds plants, some of them several at once, and sends a plant again that was refused. */
async function runClient (
  world: World, services: Service[], firstId: bigint, untilMs: number
): Promise<void> {
  const thinkMs = world.pick([10, 300, 3000])
  const isLong = world.chance(0.03)
  let nextId = firstId
  const pickService = () => world.pick(services as [Service, ...Service[]])
  const newPlant = (): NewPlant => {
    const id = world.chance(0.5) ? BigInt(world.pick([1, 2, 3, 4, 5])) : nextId++
    const name = isLong ? longName : world.pick(['fern', 'fern', 'ivy'])
    return world.chance(0.8) ? { id, name } : { id, name, tag: 'a' }
  }
  const send = async (plant: NewPlant): Promise<void> => {
    for (let attempts = world.pick([1, 2, 6]); attempts > 0; attempts--) {
      const outcome = await pickService().add(plant)
      if (['added', 'unchanged', 'conflict'].includes(outcome) && world.chance(0.8)) return
      await world.sleep(world.between(0, 2 * thinkMs))
    }
  }
  for (let rounds = 6; rounds > 0 && world.clock.now() < untilMs; rounds--) {
    await world.sleep(world.between(0, 2 * thinkMs))
    if (world.chance(0.1)) await pickService().read(world.pick(['page', 'count', 'check']))
    await Promise.all(Array.from({ length: world.pick([1, 1, 2, 6]) }, () => send(newPlant())))
  }
}

/**
 * Adds the same ids through all services at the same time, in opposite orders and with different
 * names.
 */
async function race (world: World, services: Service[], untilMs: number): Promise<void> {
  for (let firstId = 10_000n; world.clock.now() < untilMs; firstId += 10n) {
    await world.sleep(world.between(0, 5000))
    const ids = [firstId, firstId + 1n, firstId + 2n, firstId + 3n]
    await Promise.all(services.map(async (service, index) => {
      const sorted = index % 2 === 0 ? ids : ids.toReversed()
      await Promise.all(sorted.map(id => service.add({ id, name: world.pick(['fern', 'ivy']) })))
    }))
  }
}

function serviceOptions (world: World): Omit<ServiceOptions, 'name' | 'hadStandbySince'> {
  return {
    maxQueue: world.pick([1, 4, 100, 100, 100, 100, 100, 100]), batchPlants: 2, isPostgres: true
  }
}

function batchDatabase (world: World, properties: Properties): Database {
  const { open, durable, heal } = createBatchEngines(world, world.pick([0, 0.1, 0.5]))
  const options = { ...serviceOptions(world), isPostgres: false }
  return {
    durable,
    heal,
    addFault: () => {},
    start: async name => {
      const process = createProcess(world)
      return startService(
        world, properties, process, { name, ...options, hadStandbySince: () => true }, open
      )
    }
  }
}

function postgresDatabase (world: World, properties: Properties): Database {
  const isReplicated = world.chance(0.75)
  const hosts = isReplicated && world.chance(0.5) ? 2 : 1
  const cluster = createCluster(world, {
    isReplicated,
    hosts,
    isPooled: hosts === 1 && world.chance(0.4),
    synchronousCommit: world.pick(commitLevels),
    hasWarnings: world.chance(0.1),
    hasTables: world.chance(0.8),
    hasSlowInserts: world.chance(0.2),
    onDeadlock: () => properties.fail('liveness', 'two batches deadlock'),
    rates: faultRates(world)
  })
  const options = {
    ...serviceOptions(world), hadStandbySince: (moment: number) => hadStandbySince(cluster, moment)
  }
  return {
    durable: () => cluster.durable,
    heal: () => heal(cluster),
    addFault: () => addFault(world, cluster),
    async start (name) {
      let engine: PostgresEngine | undefined
      const process = createProcess(world)
      const service = startService(world, properties, process, { name, ...options }, observe => {
        const runner = observe(createRunner(world, process, cluster))
        engine = createPostgresEngine(runner, process.clock)
        return engine
      })
      for (let attempts = 1; !await engine?.setUp().then(() => true, () => false); attempts++) {
        if (attempts === 5) await heal(cluster)
        await world.sleep(1000)
      }
      return service
    }
  }
}

function createRunner (world: World, process: Process, cluster: Cluster): StatementRunner {
  const hosts = ['a:5432', 'b:5432'].slice(0, cluster.hosts)
  return createStatementRunner(
    hosts,
    currentHost => createPool(world, process, cluster, currentHost),
    process.clock
  )
}

function faultRates (world: World): FaultRates {
  const rates: FaultRates = {}
  const names = [
    'lostBefore', 'lostAfter', 'serialization', 'slow', 'hung', 'noConnection'
  ] as const
  for (const name of names) if (world.chance(0.25)) rates[name] = world.pick([0.02, 0.1, 0.3])
  return rates
}

function addFault (world: World, cluster: Cluster): void {
  const fault = world.pick(faults)
  const start = () => fault === 'lostCommit' ? loseCommit(world, cluster) : startFault(cluster, fault)
  const when = world.pick(['now', 'with a statement', 'after a statement'])
  if (when === 'now') start()
  else {
    cluster.callbacks.push(
      when === 'with a statement' ? start : () => world.after(world.between(0, 5), start)
    )
  }
}

const faults = [
  'crash', 'failover', 'standbyAway', 'terminate', 'cancelWaits', 'lostCommit', 'lostCommit'
] as const

/** A commit becomes visible without the standby, and then the standby becomes the primary. */
async function loseCommit (world: World, cluster: Cluster): Promise<void> {
  startFault(cluster, 'standbyAway')
  await world.sleep(world.between(0, 3000))
  startFault(cluster, world.pick(['crash', 'cancelWaits', 'cancelWaits']))
  await world.sleep(world.between(0, world.pick([100, 8000])))
  cluster.callbacks.push(() => startFault(cluster, 'failover'))
}
