// The base of the benches: Fastify at its best, without schema and authentication, and without
// storage unless PEER_STORE is sqlite. An argument is the number of its processes on one port.
import cluster from 'node:cluster'
import fastify from 'fastify'
import { keepTicksFast } from '../../src/server/next-tick.ts'

interface Plant { id: number, name: string, tag?: string }

// A process that a signal ends does not write Node's compile cache, from which the next one starts.
process.once('SIGTERM', () => process.exit())
const processes = Number(process.argv[2] ?? 1)
if (processes > 1 && cluster.isPrimary) {
  for (let started = 0; started < processes; started++) cluster.fork()
} else {
  keepTicksFast()
  const app = fastify()
  const commit = process.env.PEER_STORE === 'sqlite'
    ? (await import('./peers/shared.ts')).createPlant
    : undefined
  app.post<{ Body: Plant }>('/plants', async ({ body }) => {
    commit?.(body)
    return { name: body.name, tag: body.tag }
  })
  console.log(`listening at ${await app.listen()}`)
}
