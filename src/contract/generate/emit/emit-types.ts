// Emits the types that check handlers and answers.
import type { Oas3Schema } from '@redocly/openapi-core'
import {
  astToString, type GlobalContext, type OpenAPI3, resolveRef, scanDiscriminators, transformSchema
} from 'openapi-typescript'
import ts from 'typescript'
import { methods } from '../../message/methods.ts'
import {
  escapedKey, isFileSchema, isInt64, isSchemaObject, type Schema, valueAt
} from '../../schema/index.ts'
import {
  defaultOf, type Description, hasIgnoredBody, isIgnored, type ListedOperation, listOperations,
  type Parameter, resolve, valueOf, visitValues, withoutExtensions
} from '../description/description.ts'
import { distinctionsIn } from '../description/discriminators.ts'
import { moveRequired } from './all-of-parts.ts'
import { discriminatorTag } from './emit-contract.ts'

const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
const blob = ts.factory.createTypeReferenceNode('Blob')
const nullType = ts.factory.createLiteralTypeNode(ts.factory.createNull())

/**
 * The types of a bundled description, as TypeScript source. An integer of format int64 is a
 * `bigint`, as at run time: a `number` cannot hold it (OpenAPI 3.1, section 4.4 and its format
 * registry). A file is a `Blob`, as clients send it.
 */
export async function emitTypes (document: Description): Promise<string> {
  const wholeQueries = findWholeQueries(document)
  let text = ''
  for (const node of toNodes(toTyped(document) as OpenAPI3)) {
    text += astToString(corrected(node, wholeQueries) as ts.Node)
  }
  return text.replace(/^type WithRequired<.*?^};$/ms, withRequired)
}

/**
 * What openapi-typescript does after it has linted and bundled a description, which the generator
 * has done: that takes more time than the types.
 */
function toNodes (document: OpenAPI3): ts.Node[] {
  const silent = { silent: true }
  const discriminators = scanDiscriminators(document, silent)
  // A missing option is off, such as defaultNonNullable: nothing fills in members with a default.
  const context: Partial<GlobalContext> = {
    ...silent,
    discriminators,
    injectFooter: [],
    // Marks members that only one side sends: types/body.ts removes them from the other side.
    readWriteMarkers: hasMarkers(document),
    resolve: $ref => resolveRef(document, $ref, { ...silent, visited: [] }),
    transform: given => typeOf(given as Schema)
  }
  return transformSchema(document, context as GlobalContext)
}

function hasMarkers (document: object): boolean {
  let found = false
  visitValues(document, value => {
    const { readOnly, writeOnly } = Object(value) as Schema
    found ||= readOnly === true || writeOnly === true
  })
  return found
}

/** The type of a schema for which openapi-typescript has another one. */
function typeOf (schema: Schema): ts.TypeNode | undefined {
  if (!isInt64(schema) && !isFileSchema(schema)) return undefined
  const type = isInt64(schema) ? bigint : blob
  const isNullable = [schema.type].flat().includes('null')
  return isNullable ? ts.factory.createUnionTypeNode([type, nullType]) : type
}

/** openapi-typescript's helper for what an allOf requires, here also of what may be null. */
const withRequired = `type WithRequired<T, K extends keyof NonNullable<T>> = T & {
    [P in K]-?: NonNullable<T>[P];
};`

/** Begins the paths of operations whose methods openapi-typescript does not know. */
const ownPath = 'method '

/** Moves an operation to a separate path, with a method that openapi-typescript knows. */
function addOwnPath (document: Description, listed: ListedOperation): void {
  const { url, method, item, owner, operation } = listed
  const paths = document.paths as Record<string, unknown>
  paths[`${ownPath}${method} ${url}`] = { parameters: item.parameters, post: operation }
  delete owner[method]
}

/**
 * The ids of operations, and the paths, whose query is one value: openapi-typescript does not know
 * the place querystring.
 */
function findWholeQueries (document: Description): Set<string> {
  const found = new Set<string>()
  for (const { url, item, operation } of listOperations(document)) {
    const isWhole = (given: object) => {
      return String(resolve<Parameter>(document, given as Parameter).in) === 'querystring'
    }
    if (operation.parameters?.some(isWhole)) found.add(String(operation.operationId))
    if (item.parameters?.some(isWhole)) found.add(url).add(String(operation.operationId))
  }
  return found
}

/**
 * Removes the paths of addOwnPath(), and renames the queries that are one value.
 * @param path the names of the members around the node
 */
function corrected (
  node: ts.Node,
  wholeQueries: ReadonlySet<string>,
  path: readonly string[] = []
): ts.Node | undefined {
  const isMember = ts.isPropertySignature(node)
  const isNamed = isMember || ts.isInterfaceDeclaration(node)
  const inner = isNamed && 'text' in node.name ? [...path, node.name.text] : path
  const [part, key = '', ...rest] = inner
  if (part === 'paths' && key.startsWith(ownPath)) return undefined
  if (isMember && wholeQueries.has(key) && rest.join() === 'parameters,query') {
    const { modifiers, questionToken, type } = node
    const name = ts.factory.createIdentifier('querystring')
    return ts.factory.updatePropertySignature(node, modifiers, name, questionToken, type)
  }
  if (rest.length > 1 || (part !== 'paths' && part !== 'operations')) return node
  return ts.visitEachChild(node, child => corrected(child, wholeQueries, inner), undefined)
}

const knownMethods: readonly string[] = methods.filter(method => method !== 'query')

/** A copy of what has types, as handlers get it; what has none may be malformed. */
function toTyped (document: Description): Description {
  const copy = structuredClone(document)
  tagByDefaults(copy)
  moveRequired(copy)
  addRequired(copy)
  for (const listed of listOperations(copy)) {
    if (hasIgnoredBody(listed)) delete listed.operation.requestBody
    changeParameters(copy, listed)
    changeResponses(copy, listed)
    if (!knownMethods.includes(listed.method)) addOwnPath(copy, listed)
  }
  const { openapi, paths = {}, webhooks = {}, components = {} } = copy
  delete components.securitySchemes
  const typed = { openapi, info: { title: '', version: '' }, paths: withoutExtensions(paths) }
  return addParts({ ...typed, webhooks, components } as Description)
}

/** openapi-typescript does not know the default of a discriminator: schemas have its values. */
function tagByDefaults (document: Description): void {
  const distinctions = distinctionsIn(document)
  visitValues(document, value => {
    const { discriminator, oneOf = [] } = Object(value) as Oas3Schema
    if (discriminator?.defaultMapping === undefined) return
    delete (value as Oas3Schema).discriminator
    for (const branch of oneOf) {
      const distinction = distinctions.get(String((branch as { $ref?: string }).$ref))
      if (distinction === undefined || distinction.isDefault) continue
      const schema = resolve<{ allOf?: object[] }>(document, branch as object)
      schema.allOf = [discriminatorTag(distinction), ...schema.allOf ?? []]
    }
  })
}

/** Adds the members that are required and not described: openapi-typescript has no type of them. */
function addRequired (document: Description): void {
  visitValues(document, value => {
    const { properties, required } = Object(value) as Schema
    if (!isSchemaObject(properties) || !Array.isArray(required)) return
    for (const name of required) {
      if (!Object.hasOwn(properties, name)) Object.assign(properties, { [name]: {} })
    }
  })
}

/** Requires parameters with a default, and removes those that OpenAPI ignores. */
function changeParameters (document: Description, { item, operation }: ListedOperation): void {
  for (const owner of [item, operation]) {
    const parameters: Parameter[] = []
    for (const given of owner.parameters ?? []) {
      const parameter = resolve<Parameter>(document, given)
      if (isIgnored(parameter)) continue
      parameters.push(given as Parameter)
      describeBySchema(parameter)
      // corrected() gives it back its name.
      if (String(parameter.in) === 'querystring') parameter.in = 'query'
      const hasDefault = defaultOf(document, parameter.schema as object) !== undefined
      if (hasDefault) parameter.required = true
    }
    if (owner.parameters !== undefined) owner.parameters = parameters
  }
}

function changeResponses (document: Description, { operation }: ListedOperation): void {
  // openapi-typescript takes an extension for a response.
  operation.responses = withoutExtensions(operation.responses)
  for (const response of Object.values(operation.responses)) {
    const headers: Record<string, unknown> = resolve(document, response).headers ?? {}
    for (const [name, given] of Object.entries(headers)) {
      const header = resolve<Header>(document, given as Header)
      describeBySchema(header)
      // openapi-typescript requires each field that is a reference.
      if (header.required !== true) headers[name] = header
    }
  }
}

type Value = Parameters<typeof valueOf>[0]
type Header = Value & { required?: boolean }

/** openapi-typescript types the media types of a parameter or field otherwise than its schema. */
function describeBySchema (value: Value): void {
  if (value.content === undefined) return
  value.schema = valueOf(value).schema
  delete value.content
}

/**
 * Adds a separate component for each part of a component schema that a reference names:
 * openapi-typescript finds only members of objects.
 */
function addParts (document: Description): Description {
  const parts = new Map<string, unknown>()
  const isPart = /^#\/components\/schemas\/[^/]+\//
  visitValues(document, value => {
    const holder = Object(value) as { $ref?: unknown }
    const { $ref } = holder
    if (typeof $ref !== 'string') return
    const target = $ref.startsWith('#') ? valueAt(document, $ref.slice(1)) : undefined
    if (target === undefined) {
      // In an example or an extension, where openapi-typescript follows references too.
      delete holder.$ref
    } else if (isPart.test($ref)) {
      const name = $ref.replace('#/components/schemas/', '')
      parts.set(name, target)
      holder.$ref = `#/components/schemas/${escapedKey(name)}`
    }
  })
  const { schemas } = Object(document.components) as { schemas: Record<string, unknown> }
  for (const [name, part] of parts) schemas[name] = structuredClone(part)
  removeDefinitions(document)
  return document
}

/** openapi-typescript takes `$defs` for a member. What refers into them has a part of its own. */
function removeDefinitions (document: Description): void {
  visitValues(document, (value, path) => {
    const isMap = ['properties', 'patternProperties'].includes(String(path.at(-1)))
    if (!isMap && isSchemaObject(value)) delete (value as { $defs?: unknown }).$defs
  })
}
