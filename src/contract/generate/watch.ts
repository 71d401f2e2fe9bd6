// Builds again after each change of a contract, for the commands that watch.
import { watch } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Quiet time before a build: editors save in several steps. */
const debounceMs = 100

/**
 * Runs a build now, and again after each change of the contract's files; one at a time.
 * @param contract its files that are known before the first build
 * @param build calls its argument with the paths of the contract's files
 * @param signal ends the watching
 * @returns a function that schedules a build for another reason
 */
export function buildOnChange (
  contract: readonly string[],
  build: (watchFiles: (files: string[]) => void) => Promise<unknown>,
  signal?: AbortSignal
): () => void {
  const watched = new Set<string>()
  let sources: string[] = []
  let timer: NodeJS.Timeout | undefined

  function schedule (): void {
    clearTimeout(timer)
    timer = setTimeout(() => { building = building.then(() => build(watchFiles)) }, debounceMs)
  }

  /** Watches the folders of the files: an editor may replace a file that it saves. */
  function watchFiles (files: string[]): void {
    sources = files
    for (const folder of new Set(files.map(file => dirname(file)))) {
      if (watched.has(folder)) continue
      watched.add(folder)
      watch(folder, { signal }, (_event, name) => {
        if (name !== null && sources.includes(resolve(folder, name))) schedule()
      })
    }
  }

  watchFiles(contract.map(file => resolve(file)))
  let building = build(watchFiles)
  return schedule
}
