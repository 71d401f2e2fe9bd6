// Judges a history: each id must behave as a register that is written once. The first write that
// takes effect stays; the same content again is stored, another content is a conflict.
import type { History, Operations } from './history.ts'

/** Says what is wrong, a sentence for each mistake; none for a history that a register explains. */
export function judge ({ operations, faults }: Pick<History, 'operations' | 'faults'>): string[] {
  const verdicts = [...faults]
  for (const [id, each] of operations) {
    const mistake = findMistake(each)
    if (mistake !== undefined) verdicts.push(`id ${id}: ${mistake}`)
  }
  return verdicts
}

/** The first rule that the operations on one id break. */
export function findMistake ({ writes, reads }: Operations): string | undefined {
  const stored = writes.filter(({ answer }) => answer === 'stored')
  const conflicts = writes.filter(({ answer }) => answer === 'conflict')
  const found = reads.filter(({ content }) => content !== undefined)

  const contents = new Set([...stored, ...found].map(({ content }) => content as string))
  if (contents.size > 1) return `it had two contents: ${[...contents].join(' and ')}`
  const [known] = contents
  if (known !== undefined && conflicts.some(({ content }) => content === known)) {
    return `a conflict with the same content: ${known}`
  }

  // At this moment something has seen that the register is set.
  const seen = Math.min(...[...stored, ...conflicts, ...found].map(({ ended }) => ended))
  if (seen === Infinity) return undefined
  const refuted = new Set(conflicts.map(({ content }) => content))
  const canSet = (content: string) => known === undefined || content === known
  const setters = writes.filter(({ content, answer }) => {
    return answer !== 'conflict' && canSet(content) && !refuted.has(content)
  })
  if (setters.length === 0) return `nobody wrote what it holds: ${known ?? 'not the conflicts'}`
  if (Math.min(...setters.map(({ began }) => began)) > seen) {
    return 'it was set before the write that sets it began'
  }
  const absent = reads.filter(({ content }) => content === undefined)
  if (absent.some(({ began }) => began > seen)) return `it was lost: ${known ?? 'a conflict'}`
  return undefined
}
