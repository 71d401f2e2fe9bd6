// The names of members in the paths of errors (RFC 6901, section 3). ajv's code escapes the name
// again for each value inside: a long name with many values would take quadratic time.
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { escapedKey } from './schemas.ts'

const escapes = /(\w+)\.replace\(\/~\/g, "~0"\)\.replace\(\/\\\/\/g, "~1"\)/g

/** Lets ajv's code remember escaped names. */
export function rememberEscaped (ajv: Ajv2020): void {
  ajv.opts.code.process = code => code.replaceAll(escapes, 'self.escapeName($1)')
  Object.assign(ajv, { escapeName })
}

/** A shorter name is escaped faster than it is found. */
const minLength = 64
/** As many as one schema nests, and few enough for long names. */
const maxRemembered = 16
const remembered = new Map<string, string>()

function escapeName (name: string): string {
  if (name.length < minLength) return escapedKey(name)
  const found = remembered.get(name) ?? escapedKey(name)
  if (remembered.size >= maxRemembered) remembered.clear()
  remembered.set(name, found)
  return found
}
