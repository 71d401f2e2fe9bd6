// The peers of `npm run bench -- throughput --peers`: servers of the same operation by other means.
import { join } from 'node:path'
import { type Program, type Server, token } from './harness.ts'

const folder = join(import.meta.dirname, 'peers')
const files = {
  'fastify-openapi-glue': 'glue.ts',
  'express-openapi-validator': 'express.ts'
}

/** Each peer with a Map, and with a SQLite commit per request. */
export function peerPrograms (): Program[] {
  const env = { ACCESS_TOKENS: token, NODE_ENV: 'production' }
  const programs: Program[] = []
  for (const [name, file] of Object.entries(files)) {
    const command = [process.execPath, join(folder, file)]
    programs.push({ name: `${name}, Map`, command, env })
    programs.push({ name: `${name}, SQLite`, command, env: { ...env, PEER_STORE: 'sqlite' } })
  }
  return programs
}

const requests: Array<[body: string, status: number, authorization?: string]> = [
  ['{"id":1,"name":"Boston fern"}', 200],
  ['{"id":1,"name":"Boston fern"}', 200],
  ['{"id":1,"name":"ivy"}', 409],
  ['{"id":"1","name":"ivy"}', 400],
  ['{"id":2}', 400],
  ['{"id":2,"name":"ivy"}', 401, 'Bearer wrong']
]

/** @throws Error when a server does less than the contract says: less work is no speed */
export async function checkAnswers ({ name, port }: Server): Promise<void> {
  for (const [body, status, authorization = `Bearer ${token}`] of requests) {
    const headers = { Authorization: authorization, 'Content-Type': 'application/json' }
    const url = `http://127.0.0.1:${port}/plants`
    const response = await fetch(url, { method: 'POST', headers, body })
    if (response.status === status) continue
    throw new Error(`${name} answered ${body} with ${response.status}, not ${status}`)
  }
}
