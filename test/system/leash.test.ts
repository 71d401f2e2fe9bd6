import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { holdProcess } from '../fixtures/leash.ts'

/**
 * Starts PostgreSQL and the service, as a test does, prints where they are and waits for its end.
 */
const program = `
  import { startOwnPostgres } from './test/fixtures/postgres.ts'
  import { startService } from './test/fixtures/service.ts'
  const t = { teardown () {} }
  const server = await startOwnPostgres(t)
  const { origin } = await startService(t, process.env.FOLDER, { DATABASE_URL: server.url })
  console.log(JSON.stringify([origin, server.url]))
  setInterval(() => {}, 1000)
`

async function accepts (url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const isOpen = await once(socket, 'connect').then(() => true, () => false)
  socket.destroy()
  return isOpen
}

t.test('what a test started ends with it, also by kill -9', async t => {
  const temporary = t.testdir()
  const env = { ...process.env, FOLDER: temporary, TMPDIR: temporary }
  const args = ['--input-type=module', '--eval', program]
  const child = holdProcess(spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] }))
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
  const urls: string[] = JSON.parse(line)
  for (const url of urls) t.equal(await accepts(url), true, url)
  const folders = () => readdirSync(temporary).filter(name => name.startsWith('plant-store-postgres-'))
  t.equal(folders().length, 1)
  child.kill('SIGKILL')
  for (const url of urls) while (await accepts(url)) await sleep(20)
  while (folders().length > 0) await sleep(20)
  t.pass('both have ended, and the folder is gone')
})
