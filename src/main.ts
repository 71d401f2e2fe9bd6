// Starts the service, or runs another command. The first thread for HTTP loads its modules beside
// those of this thread: that saves a third of the time.
import { availableParallelism } from 'node:os'
import { HttpThread } from './service/threads/http-thread.ts'

const [, , ...args] = process.argv
if (args.length > 0) {
  const { runCommand } = await import('./commands/command-line.ts')
  await runCommand(args).catch(exitWithMissingFile)
} else {
  const mayBeSeveral = availableParallelism() > 1 && process.env.THREADS !== '1'
  const thread = mayBeSeveral ? loadThread() : undefined
  const { start } = await import('./commands/start.ts').catch(exitWithMissingFile)
  await start(thread)
}

function loadThread (): HttpThread | undefined {
  try {
    return new HttpThread()
  } catch {
    // The next attempt reports the same error.
    return undefined
  }
}

function exitWithMissingFile ({ message }: Error): never {
  const wayOut = 'Run npm ci to install its packages again.'
  console.error(`A part of the service cannot be loaded: ${message}. ${wayOut}`)
  process.exit(2)
}
