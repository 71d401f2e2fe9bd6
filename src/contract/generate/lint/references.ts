// The references of a description, from place to place. A place is a file and a JSON pointer in it,
// such as `/x/openapi.yaml#/paths/~1a`.

export class References {
  readonly #referrers = new Map<string, string[]>()
  readonly #targets = new Map<string, string>()

  /** Adds a Reference Object. */
  add (from: string, to: string): void {
    this.#targets.set(from, to)
    this.addUse(from, to)
  }

  /** Adds a use by name. What uses a part of a component needs all of it. */
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
    let last = place
    for (last of passed) passed.add(this.#targets.get(last) ?? last)
    return last
  }

  /** Every place that contains this one or that refers, over any number of references, to it. */
  usersOf (place: string): Set<string> {
    const found = new Set(enclosing(place))
    for (const user of found) {
      for (const referrer of this.#referrers.get(user) ?? []) {
        for (const outer of enclosing(referrer)) found.add(outer)
      }
    }
    return found
  }
}

export function childPlace (place: string, key: string): string {
  return place.endsWith('/') ? place + key : `${place}/${key}`
}

/** The root of a file, the places below it, and the place itself: `f#/`, `f#/a`, `f#/a/b`. */
function enclosing (place: string): string[] {
  const end = place.indexOf('#/') + 2
  let outer = place.slice(0, end)
  const places = [outer]
  for (const key of place.slice(end).split('/')) {
    if (key === '') continue
    outer = childPlace(outer, key)
    places.push(outer)
  }
  return places
}
