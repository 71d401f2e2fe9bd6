// The base of the benches: Fastify at its best, without schema and authentication, and without
// storage unless PEER_STORE is sqlite or postgres: then it commits each plant alone. An argument is
// the number of its processes on one port.
import cluster from 'node:cluster'
import fastify from 'fastify'
import { keepTicksFast } from '../../src/contract/server/next-tick.ts'

interface Plant { id: number, name: string, tag?: string }

// A process that a signal ends does not write Node's compile cache, from which the next one starts.
process.once('SIGTERM', () => process.exit())
const processes = Number(process.argv[2] ?? 1)
if (processes > 1 && cluster.isPrimary) {
  for (let started = 0; started < processes; started++) cluster.fork()
} else {
  keepTicksFast()
  const app = fastify()
  const commit = await openCommit(process.env.PEER_STORE)
  app.post<{ Body: Plant }>('/plants', async ({ body }) => {
    if (commit !== undefined) await commit(body)
    return { name: body.name, tag: body.tag }
  })
  console.log(`listening at ${await app.listen()}`)
}

async function openCommit (store = ''): Promise<((plant: Plant) => unknown) | undefined> {
  if (store === 'sqlite') return (await import('./peers/shared.ts')).createPlant
  if (store !== 'postgres') return undefined
  const { Pool } = (await import('pg')).default
  const pool = new Pool({ connectionString: process.env.DATABASE_URL as string })
  const insert = 'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING'
  const statement = { name: 'insert', text: insert }
  return ({ id, name, tag }) => pool.query({ ...statement, values: [id, name, tag] })
}
