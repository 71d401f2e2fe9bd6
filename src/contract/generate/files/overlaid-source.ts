// A contract that was changed: where each of its parts comes from.
import { Source } from '@redocly/openapi-core'

/** A part of a file, by its JSON pointer, such as `#/paths/~1a`. */
export interface Place { source: Source, pointer: string }

/**
 * The text is that of the contract. Pointers are those of the changed contract. A contract that was
 * changed before has such a source, too.
 */
export class OverlaidSource extends Source {
  readonly #contract: Source
  /** The places of the parts that were added or moved. */
  readonly #places = new Map<string, Place>()

  constructor (contract: Source) {
    super(contract.absoluteRef, contract.body)
    this.#contract = contract
  }

  /** The place of a part: that of the innermost part around it that has one, and the way inside. */
  placeOf (pointer: string): Place {
    for (let outer = pointer; outer.includes('/'); outer = outer.slice(0, outer.lastIndexOf('/'))) {
      const place = this.#places.get(outer)
      if (place === undefined) continue
      return original(place.source, place.pointer + pointer.slice(outer.length))
    }
    return original(this.#contract, pointer)
  }

  /** Records that a part, with all that is in it, comes from another place. */
  add (pointer: string, place: Place): void {
    for (const known of this.#places.keys()) {
      if (known.startsWith(`${pointer}/`)) this.#places.delete(known)
    }
    this.#places.set(pointer, place)
  }

  /** Records that an item left a list, in which the later ones move up. */
  removeItem (list: string, index: number, length: number): void {
    for (let next = index + 1; next < length; next++) {
      this.#move(`${list}/${next}`, `${list}/${next - 1}`)
    }
  }

  #move (from: string, to: string): void {
    this.add(to, this.placeOf(from))
    for (const [pointer, place] of [...this.#places]) {
      if (!pointer.startsWith(`${from}/`)) continue
      this.#places.set(to + pointer.slice(from.length), place)
    }
  }
}

function original (source: Source, pointer: string): Place {
  return source instanceof OverlaidSource ? source.placeOf(pointer) : { source, pointer }
}
