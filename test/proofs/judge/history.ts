// What clients asked of a store and what they learned, in the order in which it happened. The
// judge shares no code with the other workloads and checks, so that no mistake is in both.

/**
 * `stored` is a response 200, `conflict` a 409. `unknown`: no answer, or 503; the write may take
 * effect at any later time.
 */
export type Answer = 'stored' | 'conflict' | 'unknown'

/** A name and a tag as one text. */
export type Content = string

/** Began and ended are moments of one clock; an unknown answer has no end. */
export interface Write { content: Content, answer: Answer, began: number, ended: number }

/** What a look into the database found; undefined is no plant. */
export interface Read { content: Content | undefined, began: number, ended: number }

/** All that happened to one id. */
export interface Operations { writes: Write[], reads: Read[] }

export interface History {
  operations: Map<bigint, Operations>
  /** What no store may do, such as a response that the contract does not have. */
  faults: string[]
  /** From now on answers count as unknown, because a power cut may have come before them. */
  distrust: () => void
  trust: () => void
  write: (id: bigint, content: Content, send: () => Promise<Answer>) => Promise<Answer>
  /** Records what the whole database holds. */
  read: (look: () => Promise<Map<bigint, Content>>) => Promise<void>
}

export function createHistory (): History {
  const operations = new Map<bigint, Operations>()
  const faults: string[] = []
  let clock = 0
  let isTrusted = true

  function operationsOf (id: bigint): Operations {
    const known = operations.get(id)
    if (known !== undefined) return known
    const added: Operations = { writes: [], reads: [] }
    operations.set(id, added)
    return added
  }

  return {
    operations,
    faults,
    distrust: () => { isTrusted = false },
    trust: () => { isTrusted = true },
    async write (id, content, send) {
      const write: Write = { content, answer: 'unknown', began: clock++, ended: Infinity }
      operationsOf(id).writes.push(write)
      const answer = await send()
      if (isTrusted && answer !== 'unknown') Object.assign(write, { answer, ended: clock++ })
      return answer
    },
    async read (look) {
      const began = clock++
      const found = await look()
      const ended = clock++
      // A plant that nobody sent is in the database only.
      for (const id of found.keys()) operationsOf(id)
      for (const [id, { reads }] of operations) reads.push({ content: found.get(id), began, ended })
    }
  }
}

export function contentOf (name: string, tag: string | null | undefined): Content {
  return JSON.stringify([name, tag ?? null])
}
