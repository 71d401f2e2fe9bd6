// A linter rule that reports the features of OpenAPI that this service does not serve: serving half
// of a feature would mislead. It also fills the survey.
import type { Oas3Operation, Oas3Parameter, Oas3Rule, UserContext } from '@redocly/openapi-core'
import { mapValues, type Schema } from '../../schema/index.ts'
import { operationKeys } from '../../message/methods.ts'
import { didYouMean } from '../../message/did-you-mean.ts'
import { reportDates } from '../description/deprecation.ts'
import { isToken, reportParameter, reportValue } from './parameter-styles.ts'
import type { Survey } from './survey.ts'
import { isRoutable, pathFault, report } from './unsupported-features.ts'
import { reportDefault, reportDialect, reportSchema } from './unsupported-schemas.ts'
import { type Top, visitReference } from './visit-references.ts'

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
  let top: Top & { security: object | undefined, schemas: object, schemes: object }
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
      reportDialect(root, 'jsonSchemaDialect', context)
    },
    Paths: {
      PathItem: {
        enter (_item, context) {
          const path = String(context.key)
          const fault = pathFault(path)
          const detail = survey.differences.get(path) ?? path
          if (fault !== undefined) report(context, fault, undefined, detail)
        },
        Parameter (parameter, context) {
          reportParameter(parameter, context)
          survey.addParameter(parameter, context)
        },
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
              else survey.addMediaType(type, context.location.child(type).key())
            }
          },
          Encoding ({ contentType = '' }, { location }) {
            for (const type of contentType.split(',')) {
              survey.addMediaType(type.trim(), location.child('contentType'))
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
      enter (reference, context, target) {
        // The linter visits what it refers to as a schema, without the keywords beside it.
        if (context.type.name === 'Schema') survey.addSchema({ ...reference }, context)
        visitReference(reference.$ref, target, context, survey, top)
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
const openWayOut = 'security: [] or --allow-open serves it to everyone'
const schemeKinds = ['bearer', 'basic', 'apiKey', 'oauth2', 'openIdConnect']

function isMediaType (type: string): boolean {
  return /^[^\s/;]+\/[ -~]+$/.test(type) && /^[ -~]+$/.test(type)
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
