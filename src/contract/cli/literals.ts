// Names and texts as the code of JavaScript writes them.

/** The name of a member in an object literal. */
export function memberName (name: string): string {
  return isName(name) ? name : quoted(name)
}

export function isName (text: string): boolean {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(text)
}

export function quoted (text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
