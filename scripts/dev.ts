// npm run dev: restarts the service after each change of the contract or of src/. Prints the errors
// of a change that is broken, and keeps the last good service running. --skip-unsupported leaves
// out operations that cannot be served; --allow-open serves those without security.
import { generate } from 'fastify-openapi-contract/generate'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ownPaths } from '../src/service/service-paths.ts'
import { compiler } from './compiler.ts'
import { leniencyOf, leniencyOptions, readOptions } from './options.ts'

const contract = 'openapi.yaml'
const leniency = leniencyOf(readOptions(leniencyOptions))
/** Quiet time before a build: editors save in several steps. */
const debounceMs = 100

let service: ChildProcess | undefined
let timer: NodeJS.Timeout | undefined
const watched = new Set<string>()
let sources: string[] = []

watch('src', { recursive: true }, scheduleBuild)
watchFolders([resolve(contract)])
let building = build()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => { stop().then(() => process.exit()) })
}

function scheduleBuild (): void {
  clearTimeout(timer)
  timer = setTimeout(() => { building = building.then(build) }, debounceMs)
}

/** Watches the folders of the contract's files: an editor may replace a file that it saves. */
function watchFolders (files: string[]): void {
  sources = files
  for (const folder of new Set(files.map(file => dirname(file)))) {
    if (watched.has(folder)) continue
    watched.add(folder)
    watch(folder, (_event, name) => {
      if (name !== null && sources.includes(resolve(folder, name))) scheduleBuild()
    })
  }
}

async function build (): Promise<void> {
  const command = 'npm run generate'
  const options = { contract, out: 'generated', command, check: false, ownPaths, ...leniency }
  const isGood = await generate(options, watchFolders) && await typeChecks()
  if (!isGood) {
    const isWaiting = service === undefined
    console.error(isWaiting ? 'Waiting for a change.' : 'The last working service keeps running.')
    return
  }
  await stop()
  service = spawn(process.execPath, ['src/main.ts'], { stdio: 'inherit' })
}

/** Checks src/ and generated/ only: an error in a test must not block the service. */
async function typeChecks (): Promise<boolean> {
  const tsc = spawn(process.execPath, [compiler, '--project', 'src'], { stdio: 'inherit' })
  const [code] = await once(tsc, 'exit')
  return code === 0
}

async function stop (): Promise<void> {
  if (service === undefined || service.exitCode !== null || service.signalCode !== null) return
  service.kill()
  await once(service, 'exit')
}
