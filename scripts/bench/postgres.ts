// npm run bench -- postgres: the service on PostgreSQL, one and two services on one database,
// beside the service on SQLite and a server that sends one INSERT for each request. All of them,
// the database and the load share the cores. The PostgreSQL is a temporary one.
import { preparePostgres } from '../../test/fixtures/temporary-postgres.ts'
import {
  bareFastify, folder, printMedians, readSettings, repeat, type Sample, type Server, service,
  startServer
} from './harness.ts'
import { load } from './load.ts'

const { rounds, seconds, connections } = readSettings({
  rounds: 9,
  /** Of load per round and row. */
  seconds: 1,
  connections: [64, 256]
})

const database = await preparePostgres(folder)
await database.initialise()
try {
  await database.start()
  const env = { DATABASE_URL: database.url, LOG_LEVEL: 'info' }
  // The first service creates the table.
  const first = await startServer(service('service, PostgreSQL', env))
  const second = await startServer(service('the second service', env))
  const sqlite = await startServer(service('service, SQLite', { LOG_LEVEL: 'info' }))
  const bare = await startServer(bareFastify(1, database.url))
  const rows: Array<[name: string, servers: Server[]]> = [
    [sqlite.name, [sqlite]],
    [first.name, [first]],
    ['two services, one PostgreSQL', [first, second]],
    [bare.name, [bare]]
  ]
  for (const count of connections) {
    const samples: Sample[] = []
    const measure = async () => {
      for (const [name, servers] of rows) samples.push(await measureRow(name, servers, count))
    }
    await measure()
    samples.length = 0
    await repeat(rounds, measure)
    printMedians(`${count} connections, ${rounds} rounds of ${seconds} s`, samples)
  }
} finally {
  await database.stop()
}
process.exit()

/** The servers share the connections. CPU time is that of the servers, without the database. */
async function measureRow (name: string, servers: Server[], count: number): Promise<Sample> {
  const loads = servers.map(server => load(server, count / servers.length, seconds))
  const figures = await Promise.all(loads)
  let throughput = 0
  let cpu = 0
  for (const one of figures) {
    throughput += one.throughput
    cpu += one.cpu * one.throughput
  }
  const p99 = Math.max(...figures.map(({ p99 }) => p99))
  const row = { 'plants/s': throughput, 'CPU us/plant': cpu / throughput, 'p99 ms': p99 }
  return { name, figures: row }
}
