// The base of the benches: Fastify at its best, without schema, authentication and storage. An
// argument is the number of its processes on one port.
import cluster from 'node:cluster'
import fastify from 'fastify'
import { keepTicksFast } from '../../src/service/next-tick.ts'

interface Plant { name: string, tag?: string }

const processes = Number(process.argv[2] ?? 1)
if (processes > 1 && cluster.isPrimary) {
  for (let started = 0; started < processes; started++) cluster.fork()
} else {
  keepTicksFast()
  const app = fastify()
  app.post<{ Body: Plant }>('/plants', async ({ body: { name, tag } }) => ({ name, tag }))
  console.log(`listening at ${await app.listen()}`)
}
