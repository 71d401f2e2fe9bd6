// Patterns of contracts that JSON Schema does not read, as it reads regular expressions with the
// flag u (2020-12, core, section 6.4). Those of one meaning become such expressions.

/** Escapes and quantifiers that stay, sets of characters, and lone brackets. */
const token = /\\(?:[pP]|u|k)[{<][^}>]*[}>]|\\[^]|\[(?:\\[^]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\]{}]/g
/** A backslash before a character that is neither a letter, a digit nor syntax has no meaning. */
const needlessEscape = /\\([^\w^$\\.*+?()[\]{}|/-]|_)/g
const escapedHyphen = /\\-/g
/** `[\w-.]`: a set is no end of a range, so the hyphen is itself. */
const hyphenAfterSet = /(\\[dDwWsS])-(?!\])/g

/** A pattern for the flag u. One that has none stays as it is, and cannot be compiled. */
export function toUnicodePattern (pattern: string): string {
  if (isExpression(pattern, 'u')) return pattern
  const ignoresCase = pattern.startsWith('(?i)')
  const source = ignoresCase ? pattern.slice('(?i)'.length) : pattern
  const changed = source.replaceAll(token, toUnicode)
  const result = ignoresCase ? `(?i:${changed})` : changed
  return isExpression(source, '') && isExpression(result, 'u') ? result : pattern
}

function toUnicode (token: string): string {
  if (token.length === 1) return `\\${token}`
  const plain = token.replaceAll(needlessEscape, '$1')
  if (token.startsWith('[')) return plain.replaceAll(hyphenAfterSet, '$1\\-')
  return plain.replaceAll(escapedHyphen, '-')
}

function isExpression (source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp
  } catch {
    return false
  }
}
