import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

/**
 * Prints the time of a tick after full garbage collections, divided by the time before them. Each
 * time is that of the fastest of several runs. No ticks run between the collections.
 */
const program = `
  import { setTimeout as sleep } from 'node:timers/promises'
  import { keepTicksFast } from ${JSON.stringify(pathToFileURL('src/service/next-tick.ts').href)}
  const run = () => new Promise(resolve => {
    const began = performance.now()
    let ticks = 0
    const next = () => ++ticks < 2e5 ? process.nextTick(next) : resolve(performance.now() - began)
    next()
  })
  const fastest = async () => {
    const times = []
    for (let round = 0; round < 10; round++) times.push(await run())
    return Math.min(...times)
  }
  keepTicksFast()
  const before = await fastest()
  for (let round = 0; round < 5; round++) {
    gc()
    await sleep(20)
  }
  console.log(await fastest() / before)
`

t.test('garbage collections do not slow ticks down', async t => {
  const args = ['--expose-gc', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  // Without keepTicksFast() a tick takes six times as long.
  t.ok(Number(stdout) < 3, `a tick takes ${stdout.trim()} times as long as before`)
})
