// npm run dev: the service, anew after each change of the contract or of src/. What is broken is told, and the last
// service that was good runs on.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { generate } from './generate.ts'

const contract = 'openapi.yaml'
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
/** Milliseconds without a change before a change is looked at: editors write in several steps. */
const quiet = 100

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
  timer = setTimeout(() => { building = building.then(build) }, quiet)
}

/** Watches the folders of the contract's files: editors replace a file, and a watched one would then be gone. */
function follow (files: string[]): void {
  sources = files
  for (const folder of new Set(files.map(file => dirname(file)))) {
    if (watched.has(folder)) continue
    watched.add(folder)
    watch(folder, (_event, name) => { if (name !== null && sources.includes(resolve(folder, name))) changed() })
  }
}

async function build (): Promise<void> {
  const fits = await generate({ contract, out: 'generated', check: false }, follow) && await typeChecks()
  if (!fits) {
    console.error(service === undefined ? 'Waiting for a change.' : 'The service runs on as it was before the change.')
    return
  }
  await stop()
  service = spawn(process.execPath, ['src/main.ts'], { stdio: 'inherit' })
}

/** Checks src/ and generated/ only: an error in a test, which is not watched, must not block the service. */
async function typeChecks (): Promise<boolean> {
  const [code] = await once(spawn(process.execPath, [compiler, '--project', 'src'], { stdio: 'inherit' }), 'exit')
  return code === 0
}

async function stop (): Promise<void> {
  if (service === undefined || service.exitCode !== null || service.signalCode !== null) return
  service.kill()
  await once(service, 'exit')
}
