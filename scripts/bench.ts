// npm run bench -- NAME: measures one thing, and prints it beside what it is compared with.
import { type Menu, runEntry } from './menu.ts'

const shows = {
  throughput: 'requests/s and CPU beside bare Fastify, another revision or peers; 4 minutes',
  operations: 'a read, a list and a put by the engine, beside Fastify and peers; 4 minutes',
  latency: 'ordinary requests while the service does something slow for others; 2 minutes',
  overload: 'plants stored with more clients than it can serve, and memory; 2 minutes',
  start: 'time from the start of a process to its first 200; 1 minute',
  stores: 'plants/s of SQLite without HTTP, by the plants in it; 5 minutes',
  postgres: 'the service on PostgreSQL beside SQLite and one INSERT a request; 2 minutes'
}

export const benches: Menu = {}
for (const [name, text] of Object.entries(shows)) {
  benches[name] = { file: `scripts/bench/${name}.ts`, shows: text }
}

if (import.meta.main) await runEntry('bench', benches)
