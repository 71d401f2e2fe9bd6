// Finds the operations that use a place of a description, directly or through references.

/** References from place to place. A place is a file and a JSON pointer in it, such as `/x/openapi.yaml#/paths/~1a`. */
export class References {
  readonly #referrers = new Map<string, string[]>()
  readonly #targets = new Map<string, string>()

  /** Adds a Reference Object. */
  add (from: string, to: string): void {
    this.#targets.set(from, to)
    this.addUse(from, to)
  }

  /** Adds a use by name. What uses a part of a component needs it all: it is compiled as a whole. */
  addUse (from: string, to: string): void {
    const component = /^.*?#\/components\/[^/]+\/[^/]+/s.exec(to)?.[0] ?? to
    for (const used of new Set([to, component])) {
      const referrers = this.#referrers.get(used)
      if (referrers === undefined) this.#referrers.set(used, [from])
      else referrers.push(from)
    }
  }

  /** The place itself, or the one that it refers to; one of the places that refer to each other. */
  resolve (place: string): string {
    const passed = new Set([place])
    for (const next of passed) passed.add(this.#targets.get(next) ?? next)
    return [...passed].at(-1) as string
  }

  /** Every place that contains this one or that refers, over any number of references, to such a place. */
  users (place: string): Set<string> {
    const found = new Set(enclosing(place))
    for (const user of found) {
      for (const referrer of this.#referrers.get(user) ?? []) enclosing(referrer).forEach(outer => found.add(outer))
    }
    return found
  }
}

/** A place and those around it: `f#/a/b`, `f#/a`, `f#/`. */
function enclosing (place: string): string[] {
  const [, root, pointer] = /^(.*?#\/)(.*)$/s.exec(place) as unknown as [string, string, string]
  const keys = pointer.split('/').filter(key => key !== '')
  return [...keys.map((_key, index) => root + keys.slice(0, index + 1).join('/')), root]
}
