// Removes components that nothing needs.
import { isRef } from '@redocly/openapi-core'
import { mapValues, pick, type Schemas } from '../../schema/index.ts'
import type { Contract, Operation } from '../../types/contract.ts'
import { type Description, listOperations, visitValues, withoutExtensions } from './description.ts'

/** Without the components that no operation needs: those of webhooks and skipped operations. */
export function pruneContract (contract: Contract): Contract {
  const served = Object.values(contract.operations)
  const schemas = schemasOf(served, contract.schemas)
  const schemes = new Set(served.flatMap(({ security }) => security.flatMap(Object.keys)))
  return {
    ...contract,
    schemas: pick(contract.schemas, name => schemas.has(name)),
    securitySchemes: pick(contract.securitySchemes, name => schemes.has(name))
  }
}

/**
 * The names of the component schemas that operations refer to, directly or through others.
 * @param withMappings whether the mappings of discriminators count, which have types
 */
export function schemasOf (
  operations: Operation[],
  schemas: Schemas,
  withMappings = false
): Set<string> {
  const names = new Set<string>()
  const mapped = '#/components/schemas/'
  const addFrom = (part: unknown) => visitValues(part, value => {
    if (isRef(value)) names.add(value.$ref.replace(/#.*$/s, ''))
    const text = withMappings ? String(value) : ''
    if (text.startsWith(mapped)) names.add(text.slice(mapped.length))
  })
  addFrom(operations)
  for (const name of names) addFrom(schemas[name])
  return names
}

/** Without the components that neither the operations nor the webhooks use: some may be broken. */
export function pruneDescription (document: Description): Description {
  const { webhooks, paths: allPaths = {}, components: all = {} } = document
  const paths = withoutExtensions(allPaths)
  const components = all as Record<string, Record<string, unknown>>
  const schemes = '#/components/securitySchemes/'
  const used = componentsIn([paths, webhooks])
  const requirements = [document, ...listOperations(document).map(({ operation }) => operation)]
    .flatMap(({ security }) => security ?? [])
  for (const name of requirements.flatMap(Object.keys)) used.add(schemes + name)
  for (const place of used) {
    const [, , kind = '', name = ''] = place.split('/')
    for (const inner of componentsIn(components[kind]?.[name])) {
      // A security scheme refers to schemes only; a broken one may seem to refer to more.
      if (!place.startsWith(schemes) || inner.startsWith(schemes)) used.add(inner)
    }
  }
  const kept = mapValues(components, (members, kind) => {
    return pick(members, name => used.has(`#/components/${kind}/${name}`))
  })
  return { ...document, paths, components: kept }
}

/** The components that the references and mappings in a part of a description name. */
function componentsIn (part: unknown): Set<string> {
  const found = new Set<string>()
  visitValues(part, value => {
    const component = /^#\/components\/[^/]+\/[^/]+/.exec(typeof value === 'string' ? value : '')
    if (component !== null) found.add(component[0])
  })
  return found
}
