// The peers of `npm run bench -- --peers`: servers of the same operation by other means, with packages of their own.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { token } from './load.ts'
import type { Program, Server } from './server.ts'
import { exitWith } from '../options.ts'

const folder = join(import.meta.dirname, 'peers')
const peers = {
  'node:http': 'node-http.ts',
  'fastify-openapi-glue': 'glue.ts',
  'Hono zod-openapi': 'hono.ts',
  'openapi-backend': 'openapi-backend.ts',
  'express-openapi-validator': 'express.ts'
}

/** Each peer with a Map, and with one SQLite commit for each request. Installs them when they are missing. */
export function peerPrograms (): Program[] {
  if (!existsSync(join(folder, 'node_modules'))) {
    console.error('installing the peers')
    const { status, stderr } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--prefix', folder])
    if (status !== 0) exitWith(`npm ci in ${folder} failed: ${stderr}`)
  }
  return Object.entries(peers).flatMap(([name, file]) => {
    const command = [process.execPath, join(folder, file)]
    const env = { ACCESS_TOKENS: token, NODE_ENV: 'production' }
    return [
      { name: `${name}, Map`, command, env },
      { name: `${name}, SQLite`, command, env: { ...env, PEER_STORE: 'sqlite' } }
    ]
  })
}

const requests: Array<[body: string, status: number, authorization?: string]> = [
  ['{"id":1,"name":"Boston fern"}', 200],
  ['{"id":1,"name":"Boston fern"}', 200],
  ['{"id":1,"name":"ivy"}', 409],
  ['{"id":"1","name":"ivy"}', 400],
  ['{"id":2}', 400],
  ['{"id":2,"name":"ivy"}', 401, 'Bearer wrong']
]

/** @throws Error when a server does less than the contract says: it would be fast for the wrong reason */
export async function checkAnswers ({ name, port }: Server): Promise<void> {
  for (const [body, status, authorization = `Bearer ${token}`] of requests) {
    const headers = { Authorization: authorization, 'Content-Type': 'application/json' }
    const response = await fetch(`http://127.0.0.1:${port}/plants`, { method: 'POST', headers, body })
    if (response.status !== status) throw new Error(`${name} answered ${body} with ${response.status}, not ${status}`)
  }
}
