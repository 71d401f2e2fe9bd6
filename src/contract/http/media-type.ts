// Media types and their ranges, as a contract and as requests write them.

/** A media type without its parameters, in lower case (RFC 9110, section 8.3.1). */
export function essence (type: string): string {
  return type.replace(/\s*;.*$/s, '').toLowerCase()
}
