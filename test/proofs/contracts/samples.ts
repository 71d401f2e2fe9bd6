// Samples of a description's schemas: the request that an operation asks for, and an answer of its handler.
import { sample } from 'openapi-sampler'
import { Readable } from 'node:stream'
import { kindOf } from '../../../src/contract/index.ts'
import type { SecurityScheme } from '../../../src/contract/index.ts'
import { fieldsOfEngine, isIgnored, listOperations, resolve } from '../../../src/contract/generate/description.ts'
import type { Description, Parameter } from '../../../src/contract/generate/description.ts'

export interface SampleRequest { method: string, url: string, headers: Record<string, string>, payload?: Buffer }

/** All members and parameters; only those that are required; these without the examples of their schemas. */
export const extents = ['all', 'required', 'bare'] as const
export type Extent = typeof extents[number]

export type Listed = ReturnType<typeof listOperations>[number]
type Media = { schema?: object, example?: unknown, examples?: unknown }
type Text = { type?: unknown, pattern?: unknown, minLength?: number, maxLength?: number }
type Content = Record<string, Media>

/** Makes samples of the operations of a description. */
export function sampler (document: Description) {
  const documents = Object.fromEntries(extents.map(extent => [extent, prepared(document, extent)]))
  const sampleOf = (schema: object = {}, extent: Extent, options: object = {}): unknown => {
    const given = prepared(schema, extent)
    return sample(given, { skipNonRequired: extent !== 'all', quiet: true, ...options }, documents[extent])
  }
  const valueOf = ({ schema, content = {} }: Parameter, extent: Extent): unknown => {
    return schema === undefined ? JSON.stringify(sampleOf(firstOf(content).media.schema, extent)) : sampleOf(schema, extent)
  }

  async function request (listed: Listed, extent: Extent): Promise<SampleRequest> {
    const { url, method, item, operation } = listed
    const made: SampleRequest = { method: method.toUpperCase(), url, headers: {} }
    const query: string[] = []
    const given = [...item.parameters ?? [], ...operation.parameters ?? []]
    for (const parameter of given.map(parameter => resolve<Parameter>(document, parameter))) {
      if (isIgnored(parameter) || (extent !== 'all' && parameter.required !== true)) continue
      const texts = parameterTexts(parameter, valueOf(parameter, extent))
      const [text = ''] = texts
      if (parameter.in === 'path') made.url = made.url.replace(`{${parameter.name}}`, text)
      if (parameter.in === 'query') query.push(...texts)
      if (parameter.in === 'header') made.headers[parameter.name.toLowerCase()] = decodeURIComponent(text)
      if (parameter.in === 'cookie') made.headers.cookie = [made.headers.cookie ?? [], texts].flat().join('; ')
    }
    const [requirement = {}] = operation.security ?? document.security ?? []
    for (const name of Object.keys(requirement)) {
      const scheme = resolve<SecurityScheme>(document, document.components?.securitySchemes?.[name] as SecurityScheme)
      addCredentials(made, query, scheme)
    }
    if (query.length > 0) made.url += `?${query.join('&')}`
    if (operation.requestBody === undefined) return made
    const { type, media } = firstOf(resolve<{ content: Content }>(document, operation.requestBody as never).content)
    const body = await encode(type, sampleOf(media.schema, extent, { skipReadOnly: true }))
    return { ...made, payload: body.bytes, headers: { ...made.headers, 'content-type': body.type } }
  }

  /** The first success of an operation, else its first response; of several media types the one that is accepted. */
  function answer ({ operation }: Listed, accept: string | undefined, extent: Extent) {
    const responses = Object.entries(operation.responses ?? {})
    const [key, response] = responses.find(([key]) => key.startsWith('2')) ?? responses[0] as [string, object]
    const { content = {}, headers = {} } = resolve<{ content?: Content, headers?: object }>(document, response)
    const fields = Object.entries(headers).map(([name, header]): [string, Parameter] => [name, resolve(document, header)])
    const required = fields.filter(([name, { required }]) => required === true && !fieldsOfEngine.includes(name.toLowerCase()))
    const types = Object.keys(content)
    const type = accept ?? types[0]
    const body = type !== undefined && answerBody(type, sampleOf(content[type]?.schema, extent, { skipWriteOnly: true }))
    return {
      status: key === 'default' ? 200 : Number(key.replaceAll('X', '0')),
      headers: Object.fromEntries(required.map(([name, field]) => [name, valueOf(field, extent)])),
      ...type !== undefined && { body },
      ...(types.length > 1 || type?.includes('*') === true) && { contentType: type?.replaceAll('*', 'x') }
    }
  }
  return { request, answer }
}

const texts = ['0', '1', '10', 'a', 'A', 'abc', 'ABC', 'a1', 'a_1', 'usd', 'US', 'en', 'x@y.io', '#ffffff', 'https://a.io/b']

/**
 * A copy with a text for each pattern without an example that one of ours matches. The last samples do without the examples
 * of the schemas: some contracts have examples that break their own schemas.
 */
function prepared<Part extends object> (part: Part, extent: Extent): Part {
  return JSON.parse(JSON.stringify(part), (_key, value: Text & Media | null) => {
    if (value?.type === undefined) return value
    if (extent === 'bare' && typeof value.type !== 'object') {
      delete value.example
      delete value.examples
    }
    const { pattern, example, examples, minLength = 0, maxLength = Infinity } = value
    if (example !== undefined || examples !== undefined) return value
    const text = texts.find(text => matches(pattern, text) && text.length >= minLength && text.length <= maxLength)
    return text === undefined ? value : { ...value, const: text }
  }) as Part
}

/** A pattern that is none may be in a part that is not served. */
function matches (pattern: unknown, text: string): boolean {
  try {
    return typeof pattern === 'string' && new RegExp(pattern).test(text)
  } catch {
    return false
  }
}

function firstOf (content: Content): { type: string, media: Media } {
  const [[type, media] = ['application/json', {}]] = Object.entries(content)
  return { type, media }
}

/** A parameter's value as texts, in the styles of OpenAPI 3.1, section 4.8.12.3. */
function parameterTexts ({ name, in: place, style, explode, ...rest }: Parameter, value: unknown): string[] {
  const isQuery = place === 'query' || place === 'cookie'
  const key = isQuery ? `${encodeURIComponent(name)}=` : { matrix: `;${name}=`, label: '.' }[style as string] ?? ''
  const text = (part: unknown) => encodeURIComponent(typeof part === 'object' ? JSON.stringify(part) : String(part))
  if (typeof value !== 'object' || value === null || 'content' in rest) return [key + text(value)]
  const isExploded = explode ?? (style === 'form' || (style === undefined && isQuery))
  const separator = { spaceDelimited: '%20', pipeDelimited: '%7C' }[style as string] ?? ','
  if (Array.isArray(value)) {
    if (isQuery && isExploded) return value.map(item => key + text(item))
    return [key + value.map(text).join(style === 'label' && explode ? '.' : separator)]
  }
  const members = Object.keys(value).length > 0 ? Object.entries(value) : [['any', 'x'] as const]
  if (style === 'deepObject') return members.map(([member, part]) => `${name}[${text(member)}]=${text(part)}`)
  if (isExploded && isQuery) return members.map(([member, part]) => `${text(member)}=${text(part)}`)
  if (isExploded) return [members.map(([member, part]) => `${text(member)}=${text(part)}`).join(',')]
  return [key + members.flat().map(text).join(separator)]
}

/** Credentials that any verifier can read. */
function addCredentials ({ headers }: SampleRequest, query: string[], { type, scheme, in: place, name = '' }: SecurityScheme) {
  if (type !== 'apiKey') headers.authorization = scheme?.toLowerCase() === 'basic' ? 'Basic eDp5' : 'Bearer x'
  else if (place === 'header') headers[name.toLowerCase()] = 'x'
  else if (place === 'query') query.push(`${name}=x`)
  else headers.cookie = [headers.cookie ?? [], `${name}=x`].flat().join('; ')
}

async function encode (type: string, value: unknown): Promise<{ type: string, bytes: Buffer }> {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const members = Object.entries(Object(value)).flatMap(([name, member]): Array<[string, unknown]> => {
    return Array.isArray(member) ? member.map(item => [name, item]) : [[name, member]]
  }).map(([name, member]): [string, string] => [name, typeof member === 'object' ? JSON.stringify(member) : String(member)])
  switch (kindOf(type)) {
    case 'json': return { type, bytes: Buffer.from(JSON.stringify(value)) }
    case 'form': return { type, bytes: Buffer.from(String(new URLSearchParams(members))) }
    case 'multipart': {
      const form = new FormData()
      for (const [name, member] of members) form.append(name, member)
      const response = new Response(form)
      return { type: String(response.headers.get('content-type')), bytes: Buffer.from(await response.arrayBuffer()) }
    }
    default: return { type: type.replaceAll('*', 'x'), bytes: Buffer.from(text || 'x') }
  }
}

function answerBody (type: string, value: unknown): unknown {
  switch (kindOf(type)) {
    case 'json': return value
    case 'events': return (async function * () { yield { data: value } })()
    case 'text': return String(value)
    default: return Readable.from([Buffer.from(String(value))])
  }
}
