// The base of `npm run bench`: Fastify at its best, without schema, authentication and storage.
import fastify from 'fastify'
import { keepTicksFast } from '../src/ticks.ts'

keepTicksFast()
const app = fastify()
app.post<{ Body: { name: string, tag?: string } }>('/plants', async ({ body: { name, tag } }) => ({ name, tag }))
console.log(`listening at ${await app.listen()}`)
