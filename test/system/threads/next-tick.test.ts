import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

/**
 * Prints the CPU time of a tick after full garbage collections, divided by that before them. Each is that of the
 * cheapest of several runs. No ticks run between the collections.
 */
const program = `
  import { setTimeout as sleep } from 'node:timers/promises'
  import { keepTicksFast } from ${JSON.stringify(pathToFileURL('src/contract/server/next-tick.ts').href)}
  const spent = began => {
    const { user, system } = process.threadCpuUsage(began)
    return user + system
  }
  const run = () => new Promise(resolve => {
    const began = process.threadCpuUsage()
    let ticks = 0
    const next = () => ++ticks < 5e5 ? process.nextTick(next) : resolve(spent(began))
    next()
  })
  const cheapest = async () => {
    const times = []
    for (let round = 0; round < 8; round++) times.push(await run())
    return Math.min(...times)
  }
  keepTicksFast()
  const before = await cheapest()
  for (let round = 0; round < 5; round++) {
    gc()
    await sleep(20)
  }
  console.log(await cheapest() / before)
`

t.test('garbage collections do not slow ticks down', async t => {
  const args = ['--expose-gc', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  // Without keepTicksFast() a tick takes six times as long.
  t.ok(Number(stdout) < 3, `a tick costs ${stdout.trim()} times as much as before`)
})
