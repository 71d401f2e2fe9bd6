// Finds variables that the operator has probably set for the service, but that it does not read.

/** Shorter names are close to too many others. */
const shortest = 7
/** pg reads PGHOST, PGPORT, PGUSER, PGPASSWORD and others for what DATABASE_URL does not say. */
const ofPg = /^PG[A-Z]+$/
const ofNode = ['NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS']
/** A token alone on a line of .env that ends with = passes for the name of a variable. */
const looksLikeName = /^[A-Z][A-Z0-9_]*$/
const hidden = 'A line of .env sets a variable that the service does not read. Its name is not ' +
  'in capital letters: it is not shown, because it may be a token.'

/**
 * A sentence for each variable of .env that is not among the known ones, and for each of the
 * environment that is almost one of them.
 */
export function describeUnread (
  known: readonly string[],
  env: readonly string[],
  envFile: readonly string[]
): string[] {
  const sentences = new Set<string>()
  for (const name of new Set([...envFile, ...env])) {
    if (known.includes(name) || ofPg.test(name)) continue
    const isInFile = envFile.includes(name)
    const meant = mostSimilar(known, name, isInFile)
    if (meant === undefined && !isInFile) continue
    if (meant === undefined && !looksLikeName.test(name)) {
      sentences.add(hidden)
      continue
    }
    if (ofNode.includes(name)) {
      sentences.add(`${name} is set in .env, which Node does not read: set it in the environment.`)
      continue
    }
    const place = isInFile ? ' in .env' : ''
    const question = meant === undefined ? '' : ` Did you mean ${meant}?`
    sentences.add(`${name} is set${place}, but the service does not read it.${question}`)
  }
  return [...sentences]
}

function mostSimilar (known: readonly string[], name: string, isInFile: boolean) {
  const letters = lettersOf(name)
  for (const changes of [0, 1, 2]) {
    const similar = known.filter(each => areWithin(changes, lettersOf(each), letters))
    const meant = similar.find(({ length }) => {
      // Other programs have HOSTS and POST, but no PRT.
      const isTypo = isInFile || letters.length < length
      return changes === 0 || length >= shortest || (changes === 1 && isTypo)
    })
    if (meant !== undefined) return meant
  }
  return undefined
}

function lettersOf (name: string): string {
  return name.toUpperCase().replace(/[^A-Z]/g, '').replace(/IES$/, 'Y')
}

/** Whether so many added, removed, replaced or swapped characters make one text the other. */
function areWithin (changes: number, a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > changes) return false
  if (a === b) return true
  const [restOfA, restOfB] = [a.slice(1), b.slice(1)]
  if (a[0] === b[0]) return areWithin(changes, restOfA, restOfB)
  const isSwapped = a[0] === b[1] && a[1] === b[0]
  return areWithin(changes - 1, restOfA, b) ||
    areWithin(changes - 1, a, restOfB) ||
    (isSwapped && areWithin(changes - 1, a.slice(2), b.slice(2))) ||
    areWithin(changes - 1, restOfA, restOfB)
}
