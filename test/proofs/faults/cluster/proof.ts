// What the proofs on a cluster of Citus share: a folder, and an end that leaves nothing behind.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { holdFolder, releaseFolder } from '../../../fixtures/leash.ts'

/**
 * Runs a proof and ends the process, with exit code 0 if the proof passes.
 * @param main gets a folder for all data; what it defers runs at the end, also after a signal
 */
export async function runProof (
  main: (folder: string, cleanup: AsyncDisposableStack) => Promise<boolean>
): Promise<never> {
  const cleanup = new AsyncDisposableStack()
  const interrupted = Promise.withResolvers<never>()
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => interrupted.reject(new Error(`Interrupted by ${signal}.`)))
  }
  let exitCode = 1
  try {
    const passed = await Promise.race([main(makeFolder(cleanup), cleanup), interrupted.promise])
    exitCode = passed ? 0 : 1
  } catch (error) {
    console.error(error)
  } finally {
    await cleanup.disposeAsync()
    process.exit(exitCode)
  }
}

function makeFolder (cleanup: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-citus-'))
  holdFolder(folder)
  cleanup.defer(() => {
    rmSync(folder, { recursive: true, maxRetries: 5, retryDelay: 200 })
    releaseFolder(folder)
  })
  // The user postgres creates the folders in it.
  chmodSync(folder, 0o777)
  return folder
}
