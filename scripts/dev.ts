// npm run dev: restarts the service after each change of the contract or of src/. Prints the errors of a change that is
// broken, and keeps the last good service running.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { generate } from '../src/contract/generate/index.ts'
import { ownPaths } from '../src/service/own-paths.ts'
import { leniencyOf, leniencyOptions, readOptions } from './options.ts'

const contract = 'openapi.yaml'
const leniency = leniencyOf(readOptions(leniencyOptions))
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
/** Quiet time before a build: editors save in several steps. */
const debounceMs = 100

let service: ChildProcess | undefined
let timer: NodeJS.Timeout | undefined
let building: Promise<void> = Promise.resolve()
const watched = new Set<string>()
let sources: string[] = []

watch('src', { recursive: true }, changed)
follow([resolve(contract)])
building = build()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => { stop().then(() => process.exit()) })

function changed (): void {
  clearTimeout(timer)
  timer = setTimeout(() => { building = building.then(build) }, debounceMs)
}

/** Watches the folders of the contract's files: a watch on a file ends when an editor replaces the file. */
function follow (files: string[]): void {
  sources = files
  for (const folder of new Set(files.map(file => dirname(file)))) {
    if (watched.has(folder)) continue
    watched.add(folder)
    watch(folder, (_event, name) => { if (name !== null && sources.includes(resolve(folder, name))) changed() })
  }
}

async function build (): Promise<void> {
  const options = { contract, out: 'generated', check: false, ownPaths, ...leniency }
  const good = await generate(options, follow) && await typeChecks()
  if (!good) {
    console.error(service === undefined ? 'Waiting for a change.' : 'The last working service keeps running.')
    return
  }
  await stop()
  service = spawn(process.execPath, ['src/main.ts'], { stdio: 'inherit' })
}

/** Checks src/ and generated/ only: tests are not watched, so an error there must not block the service. */
async function typeChecks (): Promise<boolean> {
  const [code] = await once(spawn(process.execPath, [compiler, '--project', 'src'], { stdio: 'inherit' }), 'exit')
  return code === 0
}

async function stop (): Promise<void> {
  if (service === undefined || service.exitCode !== null || service.signalCode !== null) return
  service.kill()
  await once(service, 'exit')
}
