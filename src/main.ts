// Starts the service. The first thread for HTTP loads its modules beside those of this thread: that saves a third of
// the time.
import { availableParallelism } from 'node:os'
import { HttpThread } from './service/threads/http-thread.ts'

const [, , ...args] = process.argv
if (args.length > 0) {
  const { runCommand } = await import('./commands/command-line.ts')
  await runCommand(args).catch(explainMissingFile)
} else {
  const thread = availableParallelism() > 1 && process.env.THREADS !== '1' ? loadThread() : undefined
  const { start } = await import('./commands/start.ts').catch(explainMissingFile)
  await start(thread)
}

function loadThread (): HttpThread | undefined {
  try {
    return new HttpThread()
  } catch {
    // Later the same error has a sentence.
    return undefined
  }
}

function explainMissingFile (error: Error): never {
  console.error(`A part of the service cannot be loaded: ${error.message}. Run npm ci to install its packages again.`)
  process.exit(2)
}
