// A linter rule that reports the features of OpenAPI that this service does not serve: serving half
// of a feature would mislead. It also fills the survey.
import type {
  Oas3Operation, Oas3Parameter, Oas3Rule, Oas3Schema, UserContext
} from '@redocly/openapi-core'
import { escapedKey, mapValues, references, type Schema, valueAt } from '../../schema/index.ts'
import { operationKeys } from '../../message/methods.ts'
import { didYouMean } from '../../message/did-you-mean.ts'
import { reportDates } from '../description/deprecation.ts'
import { isHoisted } from '../description/schema-names.ts'
import { isToken, reportParameter, reportValue } from './parameter-styles.ts'
import { placeAt, type Survey } from './survey.ts'
import { isRoutable, pathFault, report } from './unsupported-features.ts'

/**
 * Checks `paths` and all schemas; webhooks and callbacks are not served.
 * @param allowOpen whether operations without security are served
 */
export function unsupportedRule (survey: Survey, allowOpen: boolean): Oas3Rule {
  return () => ignoreErrors(createVisitor(survey, allowOpen))
}

/** Ignores errors of our visitors on malformed descriptions, which the rule `struct` reports. */
function ignoreErrors<Visitor extends object> (visitor: Visitor): Visitor {
  return mapValues(visitor as Record<string, object>, visit => {
    if (typeof visit !== 'function') return ignoreErrors(visit)
    return (...args: unknown[]) => {
      try {
        visit(...args)
      } catch {}
    }
  }) as Visitor
}

function createVisitor (survey: Survey, allowOpen: boolean): ReturnType<Oas3Rule> {
  // The visits below refer to the root of the description, which comes first.
  let top: {
    source: object, root: object, security: object | undefined, schemas: object, schemes: object
  }
  return {
    any (node, context) {
      for (const name of namesOfObjects) reportMember(node, name, context)
    },
    NamedSchemas (schemas, context) {
      for (const name of allowedMembers) reportMember(schemas, name, context)
    },
    Root (root, context) {
      survey.version = context.specVersion
      const { schemas = {}, securitySchemes: schemes = {} } = root.components ?? {}
      const { source } = context.location
      top = { source, root, security: root.security, schemas, schemes }
      const { jsonSchemaDialect: dialect } = root as { jsonSchemaDialect?: string }
      if (dialect !== undefined && !isDialect(dialect)) {
        report(context, 'dialect', 'jsonSchemaDialect', dialect)
      }
    },
    Paths: {
      PathItem: {
        enter (_item, context) {
          const path = String(context.key)
          const fault = pathFault(path)
          const detail = survey.differences.get(path) ?? path
          if (fault !== undefined) report(context, fault, undefined, detail)
        },
        Parameter: reportParameter,
        Operation: {
          enter (operation, context, { PathItem: item }) {
            reportQueries([...item.parameters ?? [], ...operation.parameters ?? []], context)
            if (operation.operationId === '__proto__') report(context, 'proto', 'operationId')
            reportMethod(operation, context)
            reportDates(operation, context)
            const isOpen = operation.security === undefined && top.security === undefined
            if (isOpen && !allowOpen) report(context, 'noSecurity', undefined, openWayOut)
          },
          Responses: reportStatuses,
          Response ({ headers = {} }, context) {
            for (const name of Object.keys(headers)) {
              if (!isToken(name)) report(context, 'headerName', 'headers', name)
            }
          },
          MediaTypesMap (content, context) {
            for (const type of Object.keys(content)) {
              if (!isMediaType(type)) report(context, 'mediaType', type, type)
            }
          },
          Header (header, context) {
            const isIgnored = String(context.key).toLowerCase() === 'content-type'
            if (!isIgnored) reportValue(header, context)
          }
        }
      }
    },
    SecurityRequirement (requirement, context) {
      for (const name of Object.keys(requirement)) {
        if (Object.hasOwn(top.schemes, name)) continue
        const hint = didYouMean(name, Object.keys(top.schemes))
        const message = `There is no security scheme ${name}.${hint}`
        context.report({ message, location: context.location.child(name).key() })
      }
    },
    SecurityScheme (scheme, context) {
      const kind = scheme.type === 'http' ? scheme.scheme.toLowerCase() : scheme.type
      if (!schemeKinds.includes(kind)) report(context, 'securityScheme', undefined, kind)
      const isField = scheme.type === 'apiKey' && scheme.in !== 'query'
      if (isField && !isToken(scheme.name)) report(context, 'headerName', 'name', scheme.name)
    },
    Schema (schema, context) {
      reportSchema(schema as Schema, context)
      reportDefault(schema, top.schemas, context)
      survey.addSchema(schema as Schema, context)
    },
    DiscriminatorMapping (mapping, context) {
      // The linter's rule accepts only references; a mapping may also name a component
      // (OpenAPI 3.1, section 4.8.25).
      for (const [value, target] of Object.entries(mapping as Record<string, string>)) {
        if (Object.hasOwn(top.schemas, target)) continue
        if (context.resolve({ $ref: target }).node !== undefined) continue
        const hint = didYouMean(target, Object.keys(top.schemas))
        const message = `There is no schema ${target}.${hint}`
        context.report({ message, location: context.location.child(value) })
      }
    },
    ref: {
      enter (reference, context, { location, node }) {
        const { $ref } = reference
        const { source } = context.location
        // The linter visits what it refers to as a schema, without the keywords beside it.
        if (context.type.name === 'Schema') survey.addSchema({ ...reference }, context)
        const from = placeAt(context.location)
        // One that refers to nothing has a location, but no node.
        if (location !== undefined && node !== undefined) {
          survey.sources.set(location.source.absoluteRef, location.source)
          survey.references.add(from, placeAt(location))
        }
        if (node === undefined) {
          const hint = source === top.source ? similarTarget($ref, top.root) : ''
          survey.missing.set(from, `there is no ${$ref}.${hint}`)
        }
        // `location` is where the last of several references leads: this names a component on
        // the way.
        const component = /^#\/components\/[^/]+\/[^/]+/.exec($ref)?.[0]
        if (component !== undefined) survey.references.addUse(from, source.absoluteRef + component)
        // Bundling replaces references into other files, wherever they are, those of schemas by
        // component schemas.
        const isInside = source === top.source && $ref.startsWith('#')
        if (isInside && node !== undefined && !referable.includes(context.type.name)) {
          report(context, 'reference', undefined, $ref)
        }
        const pointer = location?.pointer ?? ''
        const isToSchema = /^#\/components\/schemas\//.test(pointer) || isHoisted(pointer)
        const isInTop = node !== undefined && location?.source === top.source
        if (context.type.name === 'Schema' && isInTop && !isToSchema) {
          report(context, 'schemaReference', undefined, $ref)
        }
        const { name } = context.type
        if (holders.includes(name) && pointer.startsWith('#/components/schemas/')) {
          const message = `This $ref leads to a schema, not to a ${name}: name it in \`schema\`.`
          context.report({ message, location: context.location })
        }
      }
    }
  }
}

/** Members with these names are served, schemas with these names are not. */
const allowedMembers = ['constructor', 'toString']
/** openapi-typescript fails on these, and objects of JavaScript cannot hold `__proto__`. */
const namesOfObjects = Object.getOwnPropertyNames(Object.prototype).filter(name => {
  return !allowedMembers.includes(name)
})
const referable = [
  'PathItem', 'Schema', 'Response', 'Parameter', 'Example', 'RequestBody', 'Header',
  'SecurityScheme', 'Link', 'Callback', 'MediaType', 'DiscriminatorMapping',
  // Texts, and what is in extensions.
  'scalar', 'SpecExtension'
]
/** What contains schemas, and may itself be a reference. */
const holders = ['Response', 'Parameter', 'RequestBody', 'Header']
const openWayOut = '--allow-open serves it to everyone'
const schemeKinds = ['bearer', 'basic', 'apiKey', 'oauth2', 'openIdConnect']
const dialects = [
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://spec.openapis.org/oas/3.2/dialect/2025-09-17',
  'https://json-schema.org/draft/2020-12/schema'
]

function isDialect (uri: string): boolean {
  return dialects.includes(String(uri).replace(/#$/, ''))
}

function isMediaType (type: string): boolean {
  return /^[^\s/;]+\/[ -~]+$/.test(type) && /^[ -~]+$/.test(type)
}

/** Asks for another part of the description, beside the one that a reference misses. */
function similarTarget ($ref: string, root: object): string {
  const [, parent = '', name = ''] = /^#(.*)\/(.*)$/s.exec($ref) ?? []
  const siblings = Object.keys(Object(valueAt(root, parent))).map(escapedKey)
  return didYouMean(name, siblings)
}

function reportMember (node: unknown, name: string, context: UserContext): void {
  if (Object.hasOwn(Object(node), name)) report(context, 'proto', name, name)
}

/** A query is either one value or several (OpenAPI 3.2, section 4.12.1). */
function reportQueries (parameters: object[], context: UserContext): void {
  const found = new Map<string, string>()
  for (const given of parameters) {
    const { name, in: place } = context.resolve<Oas3Parameter>(given as Oas3Parameter).node ?? {}
    if (/^query/.test(String(place))) found.set(`${place} ${name}`, String(place))
  }
  const places = [...found.values()]
  if (places.length > 1 && places.includes('querystring')) report(context, 'querystring')
}

function reportMethod ({ requestBody }: Oas3Operation, context: UserContext): void {
  const { key, location } = context
  const [, isAdditional] = /(\/additionalOperations)?\/[^/]+$/.exec(location.pointer) ?? []
  if (isAdditional === undefined) {
    if (key === 'query' && requestBody === undefined) report(context, 'queryBody')
  } else if (!isRoutable(String(key)) || operationKeys(String(key)).length === 1) {
    report(context, 'method', undefined, key)
  }
}

function reportStatuses (responses: Oas3Operation['responses'], context: UserContext): void {
  for (const status of Object.keys(responses)) {
    const isServed = /^(?:[2-5](?:\d\d|XX|xx)|default|x-.*)$/.test(status)
    if (!isServed) report(context, 'status', status, status)
  }
}

function reportSchema (schema: Schema, context: UserContext): void {
  const { type, format, $schema, ...words } = schema
  for (const word of ['$anchor', '$dynamicAnchor', '$dynamicRef']) {
    if (word in words) report(context, 'anchor', word, word)
  }
  if ('$id' in words && isBase(schema, context)) report(context, 'id', '$id', words.$id)
  if (typeof $schema === 'string' && !isDialect($schema)) {
    report(context, 'dialect', '$schema', $schema)
  }
  if (format === 'int64' && !mayBeInt64([type].flat())) report(context, 'int64', 'format')
}

/**
 * Whether the $id of a schema changes what a $ref in it means (JSON Schema 2020-12 core, section
 * 8.2.1), or may be what a relative $ref elsewhere in the file means.
 */
function isBase (schema: Schema, { location, resolve }: UserContext): boolean {
  const isFile = location.pointer === '#/'
  if (!isFile && !URL.canParse(String(schema.$id))) return true
  for (const $ref of references(schema)) {
    const [file = ''] = $ref.split('#')
    if (URL.canParse(file) || (file === '' && isFile)) continue
    const target = resolve<Schema>({ $ref: file }).node
    const meant = URL.parse(file, String(schema.$id))?.href
    if (file === '' || meant === undefined || meant !== target?.$id) return true
  }
  return false
}

/** The default of a discriminator is one of the schemas that it distinguishes. */
function reportDefault (schema: object, schemas: object, context: UserContext): void {
  const { discriminator, oneOf } = schema as Oas3Schema
  const name = discriminator?.defaultMapping
  if (name === undefined || oneOf === undefined) return
  const target = Object.hasOwn(schemas, name) ? `#/components/schemas/${escapedKey(name)}` : name
  const isBranch = oneOf.some(branch => {
    return '$ref' in branch && [branch.$ref, decodeURIComponent(branch.$ref)].includes(target)
  })
  if (!isBranch) report(context, 'defaultMapping', 'discriminator', name)
}

/** A number or a string, or one of them and null. */
function mayBeInt64 (types: unknown[]): boolean {
  const others = types.filter(type => type !== 'null')
  if (others.length !== 1 || types.length > 2) return false
  return ['integer', 'number', 'string'].includes(String(others[0]))
}
