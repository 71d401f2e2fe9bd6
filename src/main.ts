// Starts the service. The first thread for HTTP loads its modules beside those of this thread: that saves a third of
// the time.
import { availableParallelism } from 'node:os'
import { HttpThread } from './threads/http-thread.ts'

const thread = availableParallelism() > 1 && process.env.THREADS !== '1' ? loadThread() : undefined
const { start } = await import('./start.ts')
await start(thread)

function loadThread (): HttpThread | undefined {
  try {
    return new HttpThread()
  } catch {
    // Later the same error has a sentence.
    return undefined
  }
}
