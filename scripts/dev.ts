// npm run dev: restarts the service after each change of the contract or of src/. Prints the errors
// of a change that is broken, and keeps the last good service running. --overlay names a file of
// changes to the contract, of which there may be several. --skip-unsupported leaves out operations
// that cannot be served; --allow-open serves those without security.
import { buildOnChange, generate } from 'fastify-openapi-contract/generate'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { ownPaths } from '../src/service/service-paths.ts'
import { compiler, oneThread } from './compiler.ts'
import { choicesOf, contractOptions, readOptions } from './options.ts'

const contract = 'openapi.yaml'
const waiting = 'Waiting for a change.'
const choices = choicesOf(readOptions(contractOptions))
let service: ChildProcess | undefined

watch('src', { recursive: true }, buildOnChange([contract, ...choices.overlays], build))
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => { stop().then(() => process.exit()) })
}

async function build (watchFiles: (files: string[]) => void): Promise<void> {
  const options = { contract, out: 'generated', check: false, ownPaths, ...choices }
  const isGood = await generate(options, watchFiles) && await typeChecks()
  if (!isGood) {
    const kept = 'The last working service keeps running.'
    console.error(isRunning(service) ? kept : waiting)
    return
  }
  await stop()
  // Several threads would start again and again while the contract and the code differ.
  const env = { THREADS: '1', ...process.env }
  service = spawn(process.execPath, ['src/main.ts'], { stdio: 'inherit', env })
  service.once('exit', code => { if (code) console.error(waiting) })
}

/** Checks src/ and generated/ only: an error in a test must not block the service. */
async function typeChecks (): Promise<boolean> {
  const args = [compiler, '--project', 'src', oneThread]
  const tsc = spawn(process.execPath, args, { stdio: 'inherit' })
  const [code] = await once(tsc, 'exit')
  return code === 0
}

function isRunning (child: ChildProcess | undefined): child is ChildProcess {
  return child !== undefined && child.exitCode === null && child.signalCode === null
}

async function stop (): Promise<void> {
  if (!isRunning(service)) return
  service.kill()
  await once(service, 'exit')
}
