// Applies overlays to a contract (OpenAPI Overlay Specification 1.0.0).
import {
  type BaseResolver, createConfig, type Document, isPlainObject, lint
} from '@redocly/openapi-core'
import { exec, type JsonValue } from 'jsonpath-rfc9535'
import { relative } from 'node:path'
import { escapedKey, mapValues } from '../../schema/index.ts'
import { pointerOf } from '../description/description.ts'
import { ContractError, describe, locate, unreadable } from './findings.ts'
import { OverlaidSource, type Place } from './overlaid-source.ts'

interface Action { target: string, update?: unknown, remove?: boolean }
type Path = ReadonlyArray<string | number>

export interface Overlaid {
  document: Document & { source: OverlaidSource }
  /** A line for each target that matches nothing. */
  warnings: string[]
}

/**
 * A copy of a contract, changed by the overlays in these files, one after another.
 * @throws ContractError about an overlay that cannot be applied
 */
export async function applyOverlays (
  contract: Document,
  files: readonly string[],
  resolver: BaseResolver
): Promise<Overlaid> {
  const source = new OverlaidSource(contract.source)
  const name = relative('', source.absoluteRef)
  let { parsed } = contract
  const warnings: string[] = []
  for (const file of files) {
    const overlay = await readOverlay(file, resolver)
    for (const [index, action] of overlay.parsed.actions.entries()) {
      const place = { source: overlay.source, pointer: `#/actions/${index}` }
      const paths = select(parsed, action.target, inside(place, 'target'))
      if (paths.length === 0) {
        warnings.push(`${locate(inside(place, 'target'))} The target matches nothing in ${name}. ` +
          'An overlay changes this file, not those that it refers to.')
      }
      for (const path of paths) parsed = applyAction(parsed, path, action, place, source)
    }
  }
  return { document: { source, parsed }, warnings }
}

type Overlay = Document<{ actions: Action[] }>

/** @throws ContractError for a file that is no valid overlay */
async function readOverlay (file: string, resolver: BaseResolver): Promise<Overlay> {
  const overlay = await resolver.resolveDocument(null, file, true).catch(error => {
    throw unreadable(file, error)
  }) as Overlay
  const place = { source: overlay.source, pointer: '#/overlay' }
  const isKnown = /^1\.0\.\d+$/.test(String(Object(overlay.parsed).overlay))
  if (!isKnown) fail(place, 'This is no overlay of version 1.0: begin it with `overlay: 1.0.0`.')
  const config = await createConfig({ rules: { struct: 'error' } })
  const problems = await lint({ ref: file, config, externalRefResolver: resolver })
  if (problems.length > 0) throw new ContractError(problems.map(describe))
  return overlay
}

function fail (place: Place, sentence: string): never {
  throw new ContractError([`${locate(place)} ${sentence}`])
}

const order = new Intl.Collator('en', { numeric: true })

/** The parts that a target matches: inner ones first, and of a list the last item first. */
function select (root: unknown, target: string, place: Place): Path[] {
  const found = new Map<string, Path>()
  try {
    exec(root as JsonValue, target, (_value, normalized) => {
      const path = normalized.map(key => typeof key === 'string' ? unescaped(key) : key)
      found.set(pointerOf(path), path)
    })
  } catch (error) {
    fail(place, `\`${target}\` is no JSONPath of RFC 9535: ${(error as Error).message} ` +
      "In it, $['x-a'] is a name with other characters than letters, digits and _.")
  }
  return [...found].sort(([one], [other]) => order.compare(other, one)).map(([, path]) => path)
}

/** The library escapes names as normalized paths do (RFC 9535, section 2.7). */
function unescaped (name: string): string {
  return JSON.parse(`"${name.replaceAll('"', '\\"').replaceAll("\\'", "'")}"`)
}

function inside ({ source, pointer }: Place, key: string | number): Place {
  return { source, pointer: `${pointer}/${escapedKey(String(key))}` }
}

function applyAction (
  root: unknown, path: Path, { remove, update }: Action, place: Place, source: OverlaidSource
): unknown {
  const key = path.at(-1)
  if (remove === true) {
    if (key === undefined) fail(inside(place, 'target'), 'The whole contract cannot be removed.')
    const outer = path.slice(0, -1)
    return changed(root, outer, holder => without(holder, key, pointerOf(outer), source))
  }
  if (update === undefined) fail(place, 'An action needs `update`, or `remove: true`.')
  return changed(root, path, value => updated(value, update, pointerOf(path), place, source))
}

/** The value of a target with its update; a list gets what is no list as its last item. */
function updated (
  value: unknown, update: unknown, pointer: string, place: Place, source: OverlaidSource
): unknown {
  const from = inside(place, 'update')
  if (Array.isArray(value)) {
    if (Array.isArray(update)) return merged(value, update, pointer, from, source)
    source.add(`${pointer}/${value.length}`, from)
    return [...value, structuredClone(update)]
  }
  const target = inside(place, 'target')
  if (!isPlainObject(value)) {
    fail(target, 'The target is no object and no list: select the one around it.')
  }
  if (!isPlainObject(update)) fail(from, 'The target is an object, and `update` must be one, too.')
  return merged(value, update, pointer, from, source)
}

/** A copy of a value with one of its parts changed: YAML may have one object in several places. */
function changed (
  value: unknown, [key, ...rest]: Path, change: (part: unknown) => unknown
): unknown {
  if (key === undefined) return change(value)
  const part = changed((value as Record<string, unknown>)[key], rest, change)
  return Array.isArray(value) ? value.with(Number(key), part) : { ...value as object, [key]: part }
}

function without (
  holder: unknown, key: string | number, pointer: string, source: OverlaidSource
): unknown {
  if (Array.isArray(holder)) {
    source.removeItem(pointer, Number(key), holder.length)
    return holder.toSpliced(Number(key), 1)
  }
  const { [key]: _removed, ...others } = holder as Record<string, unknown>
  return others
}

/** Objects are merged, lists follow each other, and other values are replaced. */
function merged (
  value: unknown, update: unknown, pointer: string, place: Place, source: OverlaidSource
): unknown {
  if (Array.isArray(value) && Array.isArray(update)) {
    for (const index of update.keys()) {
      source.add(`${pointer}/${value.length + index}`, inside(place, index))
    }
    return [...value, ...structuredClone(update)]
  }
  if (!isPlainObject(value) || !isPlainObject(update)) {
    source.add(pointer, place)
    return structuredClone(update)
  }
  // A member of an example may be called __proto__, which an assignment would not add.
  const added = mapValues(update, (part, name) => {
    const before = Object.hasOwn(value, name) ? value[name] : undefined
    return merged(before, part, `${pointer}/${escapedKey(name)}`, inside(place, name), source)
  })
  return { ...value, ...added }
}
