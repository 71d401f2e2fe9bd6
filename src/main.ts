// Starts the service, or runs another command. The first thread for HTTP loads its modules beside
// those of this thread: that saves a third of the time.
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { HttpThread } from './service/threads/http-thread.ts'

const [, , ...args] = process.argv
if (args.length > 0) {
  const { runCommand } = await import('./commands/command-line.ts').catch(exitWithMissingFile)
  await runCommand(args).catch(exitWithMissingFile)
} else {
  const mayBeSeveral = availableParallelism() > 1 && process.env.THREADS !== '1'
  const thread = mayBeSeveral ? loadThread() : undefined
  const { start } = await import('./commands/start.ts').catch(exitWithMissingFile)
  await start(thread).catch(exitWithMissingFile)
}

function loadThread (): HttpThread | undefined {
  try {
    return new HttpThread()
  } catch {
    // The next attempt reports the same error.
    return undefined
  }
}

/** @param error of Node, with the URL of a file that is missing */
function exitWithMissingFile ({ message, url = '' }: Error & { url?: string }): never {
  const isTypeScript = url !== '' && existsSync(new URL(url.replace(/(?:\.js)?$/, '.ts')))
  const wayOut = isTypeScript
    ? 'Let the import end with .ts.'
    : 'Install its packages again (npm ci), and start it by bin/plant-store, which looks for a ' +
      'Node that runs it.'
  // Node may guess in a second line.
  const [problem] = message.split('\n')
  console.error(`Node ${process.version} cannot load a part of it: ${problem}. ${wayOut}`)
  process.exit(2)
}
