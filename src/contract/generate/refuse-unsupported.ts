// A linter rule that refuses the features of OpenAPI 3.1 that this service does not serve, by name and place: serving
// half of a feature would mislead. src/contract/README.md lists the same features for people.
import type { LocationObject, Oas3Operation, Oas3Parameter, Oas3Rule, Source, UserContext } from '@redocly/openapi-core'
import { isIgnored, valueOf } from './description.ts'
import { locate } from './findings.ts'
import { formsInside, formsOf, isNested, isStyleFor, partsOf, styleOf } from './parameter-styles.ts'
import { annotations, keywords } from './normalize.ts'
import { pathFault, unsupported } from './unsupported.ts'
import type { Feature } from './unsupported.ts'
import { References } from './references.ts'

/** What the rule learns of a description beside its findings. A place is a file and a JSON pointer in it. */
export class Survey {
  readonly references = new References()
  readonly schemas = new Set<string>()
  readonly sources = new Map<string, Source>()
  /** Schemas with a keyword that JSON Schema 2020-12 does not know, by keyword. */
  readonly unknown = new Map<string, LocationObject[]>()

  /** Puts file, line and column before a JSON pointer of the bundled description. */
  locate (root: Source, pointer: string): string {
    let place = `${root.absoluteRef}#/`
    for (const key of pointer.split('/').slice(1)) {
      place = this.references.resolve(place.endsWith('/') ? place + key : `${place}/${key}`)
    }
    const [file = '', inFile = ''] = place.split('#')
    return locate({ source: this.sources.get(file) ?? root, pointer: `#${inFile}`, reportOnKey: true })
  }

  addSchema (schema: object, { location, specVersion }: UserContext): void {
    this.schemas.add(placeAt(location))
    for (const word of Object.keys(schema)) {
      if (keywords.has(word) || annotations.has(word) || word.startsWith('x-')) continue
      if (word === 'nullable' && specVersion === 'oas3_0') continue
      this.unknown.set(word, [...this.unknown.get(word) ?? [], location.child(word).key()])
    }
  }
}

/** A place for `References`. */
function placeAt ({ source, pointer }: UserContext['location']): string {
  return source.absoluteRef + pointer
}

/**
 * Checks `paths` and all schemas; webhooks and callbacks are not served.
 * @param allowOpen whether operations without security are served
 */
export function supported (survey: Survey, allowOpen: boolean): Oas3Rule {
  return () => unlessBroken(visitor(survey, allowOpen))
}

/** Ignores errors of our visitors on malformed descriptions, which the rule `struct` reports. */
function unlessBroken<Visitor extends object> (visitor: Visitor): Visitor {
  const quiet = (visit: (...args: unknown[]) => void) => (...args: unknown[]) => {
    try {
      visit(...args)
    } catch {}
  }
  return Object.fromEntries(Object.entries(visitor).map(([name, visit]) => {
    return [name, typeof visit === 'function' ? quiet(visit) : unlessBroken(visit)]
  })) as Visitor
}

function visitor (survey: Survey, allowOpen: boolean): ReturnType<Oas3Rule> {
  // The visits below refer to the root of the description, which comes first.
  let top: { source: object, security: object | undefined, schemas: object, securitySchemes: object }
  return {
    any (node, context) {
      for (const name of namesOfObjects) if (Object.hasOwn(Object(node), name)) refuse(context, 'proto', name, name)
    },
    NamedSchemas (schemas, context) {
      for (const name of ['constructor', 'toString']) {
        if (Object.hasOwn(schemas, name)) refuse(context, 'proto', name, name)
      }
    },
    Root (root, context) {
      const { schemas = {}, securitySchemes = {} } = root.components ?? {}
      top = { source: context.location.source, security: root.security, schemas, securitySchemes }
      const { jsonSchemaDialect: dialect } = root as { jsonSchemaDialect?: string }
      if (dialect !== undefined && !isDialect(dialect)) refuse(context, 'dialect', 'jsonSchemaDialect', dialect)
    },
    Paths: {
      PathItem: {
        enter (_item, context) {
          refusePath(String(context.key), context)
        },
        Parameter: refuseParameter,
        Operation: {
          enter (operation, context) {
            refuseOperation(operation, context)
            const isOpen = operation.security === undefined && top.security === undefined
            if (isOpen && !allowOpen) refuse(context, 'noSecurity')
          },
          Responses: refuseResponses,
          Response ({ headers = {} }, context) {
            for (const name of Object.keys(headers)) if (!isToken(name)) refuse(context, 'headerName', 'headers', name)
          },
          MediaTypesMap (content, context) {
            for (const type of Object.keys(content)) {
              if (!/^[^\s/;]+\/[ -~]+$/.test(type) || !/^[ -~]+$/.test(type)) refuse(context, 'mediaType', type, type)
            }
          },
          Header (header, context) {
            if (String(context.key).toLowerCase() !== 'content-type') refuseValue(header, context)
          }
        }
      }
    },
    SecurityRequirement (requirement, { report, location }) {
      for (const name of Object.keys(requirement).filter(name => !Object.hasOwn(top.securitySchemes, name))) {
        report({ message: `There is no security scheme ${name}.`, location: location.child(name).key() })
      }
    },
    SecurityScheme (scheme, context) {
      const kind = scheme.type === 'http' ? scheme.scheme.toLowerCase() : scheme.type
      if (!schemeKinds.includes(kind)) refuse(context, 'securityScheme', undefined, kind)
      const isField = scheme.type === 'apiKey' && scheme.in !== 'query'
      if (isField && !isToken(scheme.name)) refuse(context, 'headerName', 'name', scheme.name)
    },
    Schema (schema, context) {
      refuseSchema(schema, context)
      survey.addSchema(schema, context)
    },
    DiscriminatorMapping (mapping, { report, location, resolve }) {
      // The linter's rule accepts only references; a mapping may also name a component (OpenAPI 3.1, section 4.8.25).
      for (const [value, target] of Object.entries(mapping as Record<string, string>)) {
        const isKnown = Object.hasOwn(top.schemas, target) || resolve({ $ref: target }).node !== undefined
        if (!isKnown) report({ message: `There is no schema ${target}.`, location: location.child(value) })
      }
    },
    ref: {
      enter ({ $ref }, context, { location, node }) {
        // One that refers to nothing has a location, but no node.
        if (location !== undefined && node !== undefined) {
          survey.sources.set(location.source.absoluteRef, location.source)
          survey.references.add(placeAt(context.location), placeAt(location))
        }
        // `location` is where the last of several references leads: this names a component on the way.
        const component = /^#\/components\/[^/]+\/[^/]+/.exec($ref)?.[0]
        const from = placeAt(context.location)
        if (component !== undefined) survey.references.addUse(from, context.location.source.absoluteRef + component)
        // Bundling replaces references into other files, wherever they are, those of schemas by component schemas.
        const isInside = context.location.source === top.source && $ref.startsWith('#')
        const isOutside = location?.source === top.source && !/^#\/components\/schemas\//.test(location.pointer)
        if (isInside && !referable.includes(context.type.name)) refuse(context, 'reference', undefined, $ref)
        if (context.type.name === 'Schema' && isOutside) refuse(context, 'schemaReference', undefined, $ref)
      }
    }
  }
}

/** openapi-typescript fails on these, and objects of JavaScript cannot hold `__proto__`. */
const namesOfObjects = Object.getOwnPropertyNames(Object.prototype).filter(name => {
  return !['constructor', 'toString'].includes(name)
})
const referable = [
  'PathItem', 'Schema', 'Response', 'Parameter', 'Example', 'RequestBody', 'Header', 'SecurityScheme', 'Link', 'Callback',
  'MediaType', 'DiscriminatorMapping',
  // Texts, and what is in extensions.
  'scalar', 'SpecExtension'
]
const schemeKinds = ['bearer', 'basic', 'apiKey', 'oauth2', 'openIdConnect']
const dialects = [
  'https://spec.openapis.org/oas/3.1/dialect/base', 'https://spec.openapis.org/oas/3.2/dialect/2025-09-17',
  'https://json-schema.org/draft/2020-12/schema'
]

function isDialect (uri: string): boolean {
  return dialects.includes(String(uri).replace(/#$/, ''))
}

function refuse ({ report, location }: UserContext, feature: Feature, child?: string, detail?: unknown): void {
  const text = typeof detail === 'object' ? JSON.stringify(detail) : detail
  report({
    message: `Not supported: ${unsupported[feature]}${text === undefined ? '' : ` (${text})`}.`,
    location: child === undefined ? location.key() : location.child(child).key()
  })
}

function refusePath (path: string, context: UserContext): void {
  const fault = pathFault(path)
  if (fault !== undefined) refuse(context, fault, undefined, path)
}

function refuseOperation (operation: Oas3Operation, context: UserContext): void {
  const method = String(context.key)
  if (operation.operationId === '__proto__') refuse(context, 'proto', 'operationId')
  if (operation.requestBody && ['get', 'head', 'trace'].includes(method)) {
    refuse(context, 'requestBody', 'requestBody', method.toUpperCase())
  }
}

function refuseResponses (responses: Oas3Operation['responses'], context: UserContext): void {
  for (const status of Object.keys(responses)) {
    if (!/^(?:[2-5](?:\d\d|XX)|default|x-.*)$/.test(status)) refuse(context, 'status', status, status)
  }
}

/** RFC 9110, section 5.6.2. */
function isToken (name: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(name)
}

function refuseParameter (parameter: Oas3Parameter, context: UserContext): void {
  if (isIgnored(parameter)) return
  if (parameter.name === '__proto__') refuse(context, 'proto', 'name')
  if (['header', 'cookie'].includes(String(parameter.in)) && !isToken(parameter.name)) {
    refuse(context, 'headerName', 'name', parameter.name)
  }
  const { style, explode } = styleOf(parameter)
  const forms = refuseValue(parameter, context, style, explode)
  if (!isStyleFor(parameter, forms)) refuse(context, 'style', parameter.style && 'style', style)
}

/** Returns the forms of a parameter or header field, none of JSON; refuses those that have no text. */
function refuseValue (
  value: Parameters<typeof valueOf>[0],
  context: UserContext,
  style = 'simple',
  explode = false
): string[] {
  const { schema, isJson } = valueOf(value)
  const parts = isJson ? [] : partsOf([{ schema }], context)
  const forms = formsOf(parts)
  if (value.content !== undefined) {
    if (forms.some(form => form !== 'text')) refuse(context, 'parameterContent', 'content')
  } else if (isNested(parts, formsInside(style, explode), context)) {
    refuse(context, 'nestedParameter', 'schema')
  }
  return forms
}

function refuseSchema (schema: object, context: UserContext): void {
  const { type, format, $schema, ...words } = schema as Record<string, unknown>
  if (words.uniqueItems === true && hasInt64Items(words, context)) refuse(context, 'uniqueInt64', 'uniqueItems')
  for (const word of ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef']) {
    if (word in words) refuse(context, 'anchor', word, word)
  }
  if (typeof $schema === 'string' && !isDialect($schema)) refuse(context, 'dialect', '$schema', $schema)
  if (format === 'int64' && !mayBeInt64([type].flat())) refuse(context, 'int64', 'format')
}

function hasInt64Items ({ items }: Record<string, unknown>, { resolve }: UserContext): boolean {
  return typeof items === 'object' && resolve<{ format?: string }>(items as object).node?.format === 'int64'
}

/** A number or a string, or one of them and null. */
function mayBeInt64 (types: unknown[]): boolean {
  const others = types.filter(type => type !== 'null')
  return others.length === 1 && types.length <= 2 && ['integer', 'number', 'string'].includes(String(others[0]))
}
