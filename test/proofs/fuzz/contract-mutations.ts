// Mutates contracts: members are removed, renamed, retyped, exchanged and inserted, and some texts
// are changed as YAML.
import type { Random } from '../../fixtures/random.ts'
import { fields, keywords, oddNames, oddPaths, pickEntry, references, scalars, yamlValues } from './contract-words.ts'

/** The text of a contract, and what was changed. */
export interface Mutant { text: string, changes: string[] }

/** An object or array of the contract and its JSON pointer. */
interface Place { node: object, pointer: string }

export function mutate (contract: object, random: Random): Mutant {
  const copy = structuredClone(contract)
  const changes = Array.from({ length: 1 + random.below(3) }, () => change(copy, random))
  const text = JSON.stringify(copy, null, 1)
  return random.below(6) > 0 ? { text, changes } : mutateYaml(text, changes, random)
}

function change (contract: object, random: Random): string {
  const places = listPlaces(contract)
  const schemas = places.filter(({ node, pointer }) => isSchema(node, pointer))
  const anywhere = random.pick(places)
  const key = pickKey(anywhere.node, random)
  const inSchema = schemas.length === 0 ? anywhere : random.pick(schemas)
  const paths = (contract as { paths?: object }).paths
  const kinds: Array<() => string> = [
    () => remove(anywhere, key),
    () => rename(anywhere, key, random),
    () => set(anywhere, key, random.pick(scalars)),
    () => set(anywhere, random.pick(oddNames), Reflect.get(anywhere.node, key)),
    () => set(anywhere, key, random.pick(places).node),
    () => exchange(anywhere, key, random.pick(places), random),
    () => set(anywhere, ...pickEntry(random, fields)),
    () => set(anywhere, key, { $ref: random.pick(references) }),
    () => typeof paths === 'object' && paths !== null
      ? rename({ node: paths, pointer: '#/paths' }, pickKey(paths, random), random, oddPaths)
      : remove(anywhere, key),
    ...Array<() => string>(6).fill(() => set(inSchema, ...pickEntry(random, keywords))),
    () => set(inSchema, random.pick(Object.keys(keywords)), random.pick(scalars)),
    () => set(inSchema, random.pick(Object.keys(keywords)), random.pick(schemas.length === 0 ? places : schemas).node)
  ]
  return random.pick(kinds)()
}

function listPlaces (node: object, pointer = '#', found: Place[] = []): Place[] {
  found.push({ node, pointer })
  for (const [name, value] of Object.entries(node)) {
    if (typeof value === 'object' && value !== null) listPlaces(value, `${pointer}/${name}`, found)
  }
  return found
}

function isSchema (node: object, pointer: string): boolean {
  return !Array.isArray(node) && (
    /\/(?:schema|items|not|if|then|else|contains|propertyNames|additionalProperties|unevaluated\w+)$/.test(pointer) ||
    /\/(?:schemas|(?:patternP|p)roperties|\$defs|allOf|anyOf|oneOf|prefixItems|dependentSchemas)\/[^/]+$/.test(pointer)
  )
}

function pickKey (node: object, random: Random): string {
  const keys = Object.keys(node)
  return keys.length === 0 ? 'a' : random.pick(keys)
}

function remove ({ node, pointer }: Place, key: string): string {
  Reflect.deleteProperty(node, key)
  return `remove ${pointer}/${key}`
}

/**
 * Defines the member also if it is called `__proto__`; a copy, so that the contract stays a tree.
 */
function set ({ node, pointer }: Place, key: string, value: unknown): string {
  const text = JSON.stringify(value)
  const copy = text === undefined ? null : JSON.parse(text)
  // A bound such as 2 ** 64 and 1e400 stays a number.
  const own = typeof value === 'number' ? value : copy
  Object.defineProperty(node, key, { value: own, enumerable: true, configurable: true, writable: true })
  return `${pointer}/${key.slice(0, 40)} = ${String(text).slice(0, 100)}`
}

/** Keeps the order of the members. */
function rename ({ node, pointer }: Place, key: string, random: Random, names = oddNames): string {
  const name = random.pick(names)
  const members = Object.entries(node)
  for (const [name] of members) Reflect.deleteProperty(node, name)
  for (const [old, value] of members) set({ node, pointer }, old === key ? name : old, value)
  return `rename ${pointer}/${key} to ${name.slice(0, 40)}`
}

function exchange (one: Place, key: string, other: Place, random: Random): string {
  const otherKey = pickKey(other.node, random)
  const value = Reflect.get(other.node, otherKey)
  set(other, otherKey, Reflect.get(one.node, key))
  set(one, key, value)
  return `exchange ${one.pointer}/${key} and ${other.pointer}/${otherKey}`
}

/** JSON is YAML, whose lines can be changed one by one. */
function mutateYaml (text: string, changes: string[], random: Random): Mutant {
  const lines = text.split('\n')
  const index = random.below(lines.length)
  const line = lines[index] as string
  const [, before = '', after = ''] = /^(\s*(?:"[^"]*": )?).*?(,?)$/.exec(line) ?? []
  const value = random.pick(yamlValues)
  const replacements: Array<() => string> = [
    () => before + value + after,
    () => `${line.replace(/,?$/, ',')}\n${line}`,
    () => line.replace(/^(\s*)"[^"]*"/, () => `  ${value}`),
    () => line.slice(0, random.below(line.length)),
    () => `${line.replace(/: /, ': &anchor ')}`,
    () => before + '*anchor' + after,
    () => `\ufeff${line}`,
    () => `# a\n${line}`,
    () => `---\n${line}`
  ]
  lines[index] = random.pick(replacements)()
  return { text: lines.join('\n'), changes: [...changes, `line ${index + 1}: ${lines[index].slice(0, 100)}`] }
}
