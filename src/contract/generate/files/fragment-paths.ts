// Makes one path of those that differ by a fragment only, before anything else reads the contract:
// HTTP sends no fragment (RFC 9110, section 4.1), so a server has one endpoint for all of them.
import type { Document } from '@redocly/openapi-core'
import { isMethodField } from '../../message/methods.ts'
import { mapValues, type Schema } from '../../schema/index.ts'
import { pointerOf, visitValues } from '../description/description.ts'
import { Union } from '../description/union.ts'
import { locate } from './findings.ts'
import { OverlaidSource } from './overlaid-source.ts'
import type { Overlaid } from './overlay.ts'

/**
 * A copy of the contract, whose source knows where the parts of united path items come from; a line
 * that names the operations of paths with a fragment; and why paths keep theirs, by path.
 */
export function withoutFragments (contract: Overlaid['document']) {
  const root: Schema = Object(contract.parsed)
  const paths: Schema = Object(root.paths)
  const union = new Union(root)
  const differences = new Map<string, string>()
  const united = unitePaths(paths, root, union, differences)
  const served = Object.keys(paths).filter(name => pathOf(name) !== name && !differences.has(name))
  if (served.length === 0) return { document: contract, notices: [], differences }
  return {
    document: { source: sourceOf(contract, united, union), parsed: { ...root, paths: united } },
    notices: [noticeOf(served, paths, union, contract)],
    differences
  }
}

/** The paths of the contract, those that differ by a fragment as one where that is possible. */
function unitePaths (
  paths: Schema, root: Schema, union: Union, differences: Map<string, string>
): Schema {
  const united: Record<string, unknown> = {}
  for (const [path, names] of Map.groupBy(Object.keys(paths), pathOf)) {
    // The path without a fragment comes first.
    names.sort((one, other) => Number(other === path) - Number(one === path))
    const isAlone = names.length === 1 && names[0] === path
    try {
      const complete = (name: string) => completeItem(paths[name], root, union)
      united[path] = isAlone ? paths[path] : union.unite(names.map(complete))
    } catch (error) {
      for (const name of names) {
        united[name] = paths[name]
        differences.set(name, `${name} differs in ${(error as Error).message}`)
      }
    }
  }
  return united
}

/** Extensions stay as they are. */
function pathOf (name: string): string {
  return name.startsWith('/') ? name.replace(/#.*$/s, '') : name
}

/** A path item whose operations have what they inherit from it and from the contract. */
function completeItem (given: unknown, { security }: Schema, union: Union): Schema {
  const origin = union.target(given)
  const { $ref, ...beside } = Object(given)
  const { parameters, servers, ...item }: Schema = { ...origin, ...beside }
  const complete = mapValues(item, (member, name) => {
    if (!isMethodField(name)) return member
    const operation = union.target(member)
    const own = { ...union.byPlace(parameters), ...union.byPlace(operation.parameters) }
    const copy: Record<string, unknown> = { ...operation, parameters: Object.values(own) }
    if (security !== undefined) copy.security ??= security
    if (servers !== undefined) copy.servers ??= servers
    return union.made(copy, operation)
  })
  return union.made(complete, origin)
}

/** The source of the contract with these paths. */
function sourceOf (contract: Overlaid['document'], paths: Schema, union: Union): OverlaidSource {
  const { source: before, parsed } = contract
  const pointers = new Map<unknown, string>()
  visitValues(parsed, (value, path) => {
    if (Object(value) === value && !pointers.has(value)) pointers.set(value, pointerOf(path))
  })
  const source = new OverlaidSource(before)
  for (const [name, item] of Object.entries(paths)) {
    if (item === Object(parsed).paths[name]) continue
    visitValues(item, (value, path) => {
      const pointer = pointers.get(union.originOf(value))
      if (pointer === undefined) return
      const place = pointerOf(['paths', name, ...path])
      const isKnown = locate({ source, pointer: place }) === locate({ source: before, pointer })
      if (!isKnown) source.add(place, { source: before, pointer })
    })
  }
  return source
}

function noticeOf (
  names: string[], paths: Schema, union: Union, { source }: Document
): string {
  const operations: string[] = []
  for (const name of names) {
    for (const method of Object.keys(union.target(paths[name])).filter(isMethodField)) {
      operations.push(`${method.toUpperCase()} ${name}`)
    }
  }
  const pointer = pointerOf(['paths', String(names[0])])
  return `${locate({ source, pointer, reportOnKey: true })} HTTP sends no fragment of a path: ` +
    `these are served as operations of the paths without it: ${operations.join(', ')}.`
}
