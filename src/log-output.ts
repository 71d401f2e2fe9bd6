// Writes the log to standard output. It never throws or blocks, and its memory is bounded: lines that standard output
// does not take wait for it, and lines beyond the limit are dropped and counted.
import { constants, openSync, write, writeSync } from 'node:fs'

export interface LogOutput { write: (text: string) => void }

export interface StandardOutput extends LogOutput {
  /** Writes what waits, as far as standard output takes it within a second. Call it when the process exits. */
  flush: () => void
}

/** Characters that may wait: some seconds of lines at level debug and full load. */
const maxWaiting = 2 ** 22
/** A full pipe has space again as soon as its reader reads. Full disks take longer, and readers that went away. */
const retryMs = { fullPipe: 5, other: 500 }
const maxFlushMs = 1000

/**
 * @param stdout process.stdout: reading that property makes a pipe non-blocking. Node ends only after the last write,
 *   so a write that blocks would keep the process alive.
 * @param onDropped gets a sentence once standard output takes lines again
 */
export function openOutput (
  stdout: { fd: number, isTTY?: boolean },
  onDropped: (sentence: string) => void
): StandardOutput {
  const fd = stdout.isTTY === true ? openTerminal(stdout.fd) : stdout.fd
  let waiting = ''
  let dropped = 0
  /** What the current write has left. */
  let rest = Buffer.alloc(0)
  let isIdle = true
  let isWriting = false

  const takeWaiting = () => {
    rest = Buffer.from(waiting)
    waiting = ''
    if (dropped === 0) return
    const sentence = `${dropped} log lines were dropped because standard output did not take them.`
    dropped = 0
    onDropped(sentence)
  }
  const writeRest = () => {
    if (rest.length === 0) takeWaiting()
    isIdle = rest.length === 0
    if (isIdle) return
    isWriting = true
    // This writes in another thread, because the disk may hang.
    write(fd, rest, (error, written) => {
      isWriting = false
      if (error !== null) setTimeout(writeRest, error.code === 'EAGAIN' ? retryMs.fullPipe : retryMs.other).unref()
      else {
        rest = rest.subarray(written)
        writeRest()
      }
    })
  }
  return {
    write (text) {
      if (waiting.length + text.length > maxWaiting) {
        dropped++
        return
      }
      waiting += text
      if (!isIdle) return
      isIdle = false
      // All lines of this turn of the event loop share a write.
      setImmediate(writeRest)
    },
    flush () {
      if (isWriting) {
        // The other thread completes its write; waiting for it keeps the order.
        sleep(retryMs.fullPipe)
        takeWaiting()
      }
      for (const end = performance.now() + maxFlushMs; performance.now() < end;) {
        if (rest.length === 0) takeWaiting()
        if (rest.length === 0) return
        try {
          rest = rest.subarray(writeSync(fd, rest))
        } catch {
          sleep(retryMs.fullPipe)
        }
      }
    }
  }
}

/** A terminal that was stopped by Ctrl-S blocks writes. A descriptor of our own can be non-blocking. */
function openTerminal (fd: number): number {
  try {
    return openSync(`/dev/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return fd
  }
}

function sleep (ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
