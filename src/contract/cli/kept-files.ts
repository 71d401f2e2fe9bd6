// What files of a service lack that init wrote before the contract got a tag or a security scheme.
import { existsSync, readFileSync } from 'node:fs'
import type { Contract } from '../types/contract.ts'
import { memberName } from './literals.ts'
import { groupByTag } from './service-files.ts'
import { isBasic, passwordVerifier, secretOf } from './verifiers-file.ts'

/**
 * The lines that files in the current folder lack, by file.
 * @param wanted what init would write now, by file
 */
export function linesToAdd (
  contract: Contract,
  wanted: Readonly<Record<string, string>>
): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const add = (file: string, names: string[], more: string[] = []) => {
    const known = wordsOf(textOf(file))
    const isNew = (word: string) => names.includes(word) && !known.has(word)
    const lines = (wanted[file] ?? '').split('\n').filter(line => {
      return wordsOf(line).values().some(isNew) && !more.includes(line)
    })
    if (lines.length > 0) found.set(file, [...lines.map(asMember), ...more])
  }
  const groups = groupByTag(contract).map(({ constant }) => constant)
  const hasNone = textOf('src/service.ts').includes('verifiers: {}')
  add('src/service.ts', hasNone ? [...groups, 'env', 'createVerifiers'] : groups)

  const verifiers = textOf('src/verifiers.ts')
  // The owner may have replaced the secret of a scheme by a verifier of another kind.
  const members = verifiers.split(/[\n{,]/).map(part => part.trimStart())
  const isServed = (name: string) => members.some(part => part.startsWith(`${memberName(name)}:`))
  const schemes = Object.entries(contract.securitySchemes)
  const secrets = schemes.filter(([name]) => !isServed(name)).map(([name]) => secretOf(name))
  const needsPassword = schemes.some(([name, scheme]) => isBasic(scheme) && !isServed(name))
  const lacksPassword = needsPassword && !verifiers.includes('passwordVerifier')
  if (lacksPassword) add('src/verifiers.ts', [...secrets, 'BasicCredentials'], passwordLines)
  else add('src/verifiers.ts', secrets)
  const used = schemes.map(([name]) => secretOf(name)).filter(secret => verifiers.includes(secret))
  const credentials = hasNone ? ['headers', 'query', 'cookies'] : []
  const test = Object.keys(wanted).find(file => file.endsWith('app.test.ts')) ?? ''
  add(test, [...secrets, ...used, ...credentials])
  return found
}

const passwordLines = passwordVerifier.trimEnd().split('\n')

function textOf (file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

function wordsOf (text: string): Set<string> {
  return new Set(text.match(/[\p{L}\p{N}_$]+/gu))
}

/** A member of an object or a list, which others may follow. */
function asMember (line: string): string {
  return line.startsWith(' ') ? line.replace(/,?$/, ',') : line
}
