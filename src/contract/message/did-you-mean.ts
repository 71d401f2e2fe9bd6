// Finds the name that a misspelt one may stand for.

/** A question with the most similar name, after a space; empty where none is similar. */
export function didYouMean (given: string, names: string[]): string {
  if (given.length > longest) return ''
  let fewest = 3
  let question = ''
  for (const name of names) {
    const most = Math.min(fewest, (given.length - sharedSegments(given, name)) / 2)
    const edits = editsBetween(given.toLowerCase(), name.toLowerCase(), most)
    if (edits > most) continue
    fewest = edits
    question = ` Did you mean ${name}?`
  }
  return question
}

/** Characters of a name: strangers send paths. */
const longest = 100

/** Characters of the segments that two paths begin with, which make them no more alike. */
function sharedSegments (one: string, other: string): number {
  let shared = 0
  for (let i = 0; i < one.length && one[i] === other[i]; i++) {
    if (one[i] === '/') shared = i
  }
  return shared
}

/** How many characters to insert, delete or replace (Levenshtein's distance), up to a number. */
function editsBetween (one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return Infinity
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++) {
      const replaced = Number(row[j]) + (one[i] === other[j] ? 0 : 1)
      next.push(Math.min(replaced, Number(row[j + 1]) + 1, Number(next[j]) + 1))
    }
    if (Math.min(...next) > most) return Infinity
    row = next
  }
  return Number(row.at(-1))
}
