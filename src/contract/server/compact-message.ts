// A request that joins the small pieces of its body, so that they need little more memory than
// their bytes.
import { IncomingMessage } from './node-http.ts'

/** Pieces of a body that are kept as they arrive: even a piece of one byte takes 100 bytes. */
const maxPieces = 16
const compactBytes = 4096

export class CompactMessage extends IncomingMessage {
  #pieces = 0
  #joined: Buffer | undefined
  #size = 0

  /** Node calls it with each piece of the body, and null at its end. Returns true to read on. */
  override push (piece: Buffer | null): boolean {
    if (piece !== null && ++this.#pieces <= maxPieces) return super.push(piece)
    if (piece !== null && piece.length < compactBytes) return this.#join(piece)
    this.#release()
    return super.push(piece)
  }

  #join (piece: Buffer): boolean {
    const readOn = this.#size + piece.length <= compactBytes || this.#release()
    this.#joined ??= Buffer.allocUnsafeSlow(compactBytes)
    this.#size += piece.copy(this.#joined, this.#size)
    return readOn
  }

  #release (): boolean {
    const joined = this.#joined?.subarray(0, this.#size)
    this.#joined = undefined
    this.#size = 0
    return joined === undefined || super.push(joined)
  }
}
