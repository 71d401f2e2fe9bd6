// Finds variables that the operator has probably set for the service, but that it does not read.

/** Shorter names are close to too many others. */
const shortest = 7
const mostChanges = 2
/** pg reads PGHOST, PGPORT, PGUSER, PGPASSWORD and others for what DATABASE_URL does not say. */
const ofPg = /^PG[A-Z]+$/

/**
 * One sentence for each variable of .env that is not among the known ones, and for each of the environment that is
 * almost one of them.
 */
export function describeUnread (
  known: readonly string[],
  env: readonly string[],
  envFile: readonly string[]
): string[] {
  const isRead = (name: string) => known.includes(name) || ofPg.test(name)
  return [...new Set([...envFile, ...env])].filter(name => !isRead(name)).flatMap(name => {
    const meant = known.find(each => areSimilar(each, name))
    const place = envFile.includes(name) ? ' in .env' : ''
    if (meant !== undefined) return `${name} is set${place}, but the service does not read it. Did you mean ${meant}?`
    return envFile.includes(name) ? `${name} is set in .env, but the service does not read it.` : []
  })
}

function areSimilar (known: string, name: string): boolean {
  const [a, b] = [known, name].map(each => each.toUpperCase().replace(/[^A-Z]/g, '')) as [string, string]
  return a === b || (known.length >= shortest && distance(a, b) <= mostChanges)
}

/** The Levenshtein distance: how many characters must be added, removed or replaced. */
function distance (a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [row, character] of [...a].entries()) {
    const current = [row + 1]
    for (const [column, other] of [...b].entries()) {
      const replaced = at(above, column) + (character === other ? 0 : 1)
      current.push(Math.min(replaced, at(above, column + 1) + 1, at(current, column) + 1))
    }
    above = current
  }
  return at(above, b.length)
}

function at (numbers: readonly number[], index: number): number {
  return numbers[index] as number
}
