// Writes the log to standard output. It never throws or blocks, and its memory is bounded: lines
// that standard output does not take wait, and lines beyond the limit are dropped and counted.
import { constants, openSync, write, writeSync } from 'node:fs'

export interface LogOutput { write: (text: string) => void }

/** Characters that may wait: some seconds of lines at level debug and full load. */
const maxWaiting = 2 ** 22
/** A full pipe has space as soon as its reader reads. Full disks and lost readers take longer. */
const retryMs = { fullPipe: 5, other: 500 }
const maxFlushMs = 1000

export class StandardOutput implements LogOutput {
  readonly #fd: number
  readonly #onDropped: (sentence: string) => void
  #waiting = ''
  #dropped = 0
  /** The bytes that the current write has left. */
  #rest = Buffer.alloc(0)
  #isIdle = true
  #isWriting = false

  /**
   * @param stdout process.stdout: reading that property makes a pipe non-blocking. A write that
   *   blocks would keep the process alive, because Node ends only after the last one.
   * @param onDropped gets a sentence once standard output takes lines again
   */
  constructor (
    { fd, isTTY = false }: { fd: number, isTTY?: boolean },
    onDropped: (sentence: string) => void
  ) {
    this.#fd = isTTY ? openTerminal(fd) : fd
    this.#onDropped = onDropped
  }

  write (text: string): void {
    if (this.#waiting.length + text.length > maxWaiting) {
      this.#dropped++
      return
    }
    this.#waiting += text
    if (!this.#isIdle) return
    this.#isIdle = false
    // All lines of this turn of the event loop share a write.
    setImmediate(() => this.#writeRest())
  }

  /** Call it when the process exits. Writes what standard output takes within a second. */
  flush (): void {
    if (this.#isWriting) {
      // The other thread completes its write; waiting for it keeps the order.
      sleep(retryMs.fullPipe)
      this.#takeWaiting()
    }
    const end = performance.now() + maxFlushMs
    // A busy machine may hold the process for longer, before it has tried.
    do {
      if (this.#rest.length === 0) this.#takeWaiting()
      if (this.#rest.length === 0) return
      try {
        this.#rest = this.#rest.subarray(writeSync(this.#fd, this.#rest))
      } catch {
        sleep(retryMs.fullPipe)
      }
    } while (performance.now() < end)
  }

  #writeRest (): void {
    if (this.#rest.length === 0) this.#takeWaiting()
    this.#isIdle = this.#rest.length === 0
    if (this.#isIdle) return
    this.#isWriting = true
    // This writes in another thread, because the disk may hang.
    write(this.#fd, this.#rest, (error, written) => {
      this.#isWriting = false
      if (error !== null) {
        const pause = error.code === 'EAGAIN' ? retryMs.fullPipe : retryMs.other
        setTimeout(() => this.#writeRest(), pause).unref()
        return
      }
      this.#rest = this.#rest.subarray(written)
      this.#writeRest()
    })
  }

  #takeWaiting (): void {
    this.#rest = Buffer.from(this.#waiting)
    this.#waiting = ''
    if (this.#dropped === 0) return
    const count = this.#dropped
    this.#dropped = 0
    this.#onDropped(`Log lines dropped because standard output did not take them: ${count}.`)
  }
}

/** After Ctrl-S a terminal blocks writes. A second descriptor can be non-blocking. */
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
