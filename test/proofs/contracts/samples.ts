// Samples of a description's schemas: the request that an operation asks for, and an answer of its
// handler.
import fc from 'fast-check'
import { serializeArrayParam, serializeObjectParam } from 'openapi-fetch'
import { sample } from 'openapi-sampler'
import { Readable } from 'node:stream'
import { kindOf, linesMark } from '../../../src/contract/message/media-type.ts'
import { describesEvent } from '../../../src/contract/schema/index.ts'
import type { SecurityScheme } from '../../../src/contract/types/contract.ts'
import {
  type Description, fieldsOfEngine, isIgnored, type ListedOperation, type Parameter, resolve
} from '../../../src/contract/generate/description/description.ts'
import { toUnicodePattern } from '../../../src/contract/generate/description/patterns.ts'

/** All members and parameters; only those required; these without the examples of their schemas. */
export const extents = ['all', 'required', 'bare'] as const
export type Extent = typeof extents[number]

/** The query and the cookies are those of the path and the header. */
interface SampleRequest {
  method: string
  path: string
  headers: Record<string, string>
  payload?: Buffer
}
interface SampleAnswer { status: number, headers: object, body?: unknown, contentType?: string }
interface Media { schema?: object, example?: unknown, examples?: unknown }
type Content = Record<string, Media>

export class Samples {
  readonly #given: Description
  readonly #extent: Extent
  /** With texts for patterns. */
  readonly #document: Description

  constructor (document: Description, extent: Extent) {
    this.#given = document
    this.#extent = extent
    this.#document = prepare(document, extent)
  }

  async request ({ url, method, item, operation }: ListedOperation): Promise<SampleRequest> {
    const made: SampleRequest = { method: method.toUpperCase(), path: url, headers: {} }
    for (const given of [...item.parameters ?? [], ...operation.parameters ?? []]) {
      const parameter = resolve<Parameter>(this.#given, given)
      const isSent = this.#extent === 'all' || parameter.required === true
      if (isSent && !isIgnored(parameter)) addParameter(made, parameter, this.#valueOf(parameter))
    }
    const [requirement = {}] = operation.security ?? this.#given.security ?? []
    for (const name of Object.keys(requirement)) {
      const scheme = this.#given.components?.securitySchemes?.[name] as SecurityScheme
      addCredentials(made, resolve(this.#given, scheme))
    }
    if (operation.requestBody !== undefined) {
      const { content } = resolve<{ content: Content }>(this.#given, operation.requestBody as never)
      const [first = ['application/json', {}]] = Object.entries(content)
      const [type, { schema }] = first
      await addBody(made, type, this.#sampleOf(schema, { skipReadOnly: true }))
    }
    return made
  }

  /** The first success, else the first response; of several media types the accepted one. */
  answer ({ operation }: ListedOperation, accept: string | undefined): SampleAnswer {
    const responses = Object.entries(operation.responses ?? {})
    const isSuccess = ([key]: [string, unknown]) => key.startsWith('2')
    const [key, response] = responses.find(isSuccess) ?? responses[0] as [string, object]
    const resolved = resolve<{ content?: Content, headers?: object }>(this.#given, response)
    const { content = {}, headers = {} } = resolved
    const fields: Record<string, unknown> = {}
    for (const [name, header] of Object.entries(headers)) {
      const field = resolve<Parameter>(this.#given, header)
      const isSent = field.required === true && !fieldsOfEngine.includes(name.toLowerCase())
      if (isSent) fields[name] = this.#valueOf(field)
    }
    const status = key === 'default' ? 200 : Number(key.replaceAll('X', '0'))
    const answer = { status, headers: fields }
    const types = Object.keys(content)
    const type = accept ?? types[0]
    if (type === undefined) return answer
    const schema = content[type]?.schema
    const value = this.#sampleOf(schema, { skipWriteOnly: true })
    const areWhole = describesEvent(schema, { '': this.#given })
    const withBody = { ...answer, body: answerBody(type, value, areWhole) }
    const isNamed = types.length > 1 || type.includes('*')
    return isNamed ? { ...withBody, contentType: type.replaceAll('*', 'x') } : withBody
  }

  #valueOf ({ schema, content = {} }: Parameter): unknown {
    if (schema !== undefined) return this.#sampleOf(schema)
    return JSON.stringify(this.#sampleOf(Object.values(content)[0]?.schema))
  }

  #sampleOf (schema: object = {}, options: object = {}): unknown {
    const given = prepare(schema, this.#extent)
    const all = { skipNonRequired: this.#extent !== 'all', quiet: true, ...options }
    return sample(given, all, this.#document)
  }
}

/** Plainer than what is made of a pattern. */
const texts = ['1', '10', 'a', 'abc', 'ABC', 'a_1', 'US', 'x@y.io', '#ffffff', 'https://a.io/b']

type Text = Media & { type?: unknown, pattern?: unknown, minLength?: number, maxLength?: number }

/**
 * A copy with a text for each pattern without an example. The last extent does without the
 * examples: in some contracts they break their own schemas.
 */
function prepare<Part extends object> (part: Part, extent: Extent): Part {
  return JSON.parse(JSON.stringify(part), (key, value: Text | null) => {
    // The sampler makes an object of null and something else.
    const isChoice = (key === 'oneOf' || key === 'anyOf') && Array.isArray(value)
    if (isChoice && value.length > 1) return value.filter(({ type }) => type !== 'null')
    if (value?.type === undefined) return value
    if (extent === 'bare' && typeof value.type !== 'object') {
      delete value.example
      delete value.examples
    }
    const { pattern, example, examples, minLength = 0, maxLength = Infinity } = value
    if (example !== undefined || examples !== undefined) return value
    if (typeof pattern !== 'string') return value
    const isFitting = ({ length }: string) => length >= minLength && length <= maxLength
    const text = textsOf(pattern).find(isFitting)
    return text === undefined ? value : { ...value, const: text }
  }) as Part
}

const known = new Map<string, string[]>()

/** Texts of a pattern, the plainest first; none of a faulty one, which is not served. */
function textsOf (pattern: string): string[] {
  const found = known.get(pattern) ?? makeTexts(pattern)
  known.set(pattern, found)
  return found
}

function makeTexts (pattern: string): string[] {
  try {
    const expression = new RegExp(toUnicodePattern(pattern), 'u')
    const own = texts.filter(text => expression.test(text))
    const made = fc.sample(fc.stringMatching(expression), { numRuns: 100, seed: 1 })
    const isPlain = (text: string) => /^[\w .:@-]+$/.test(text)
    return [...own, ...made.filter(isPlain), ...made]
  } catch {
    return []
  }
}

function addParameter (made: SampleRequest, parameter: Parameter, value: unknown): void {
  const { in: place, name } = parameter
  const text = parameterText(parameter, value)
  if (place === 'path') made.path = made.path.replace(`{${name}}`, text)
  else addText(made, place, name, place === 'header' ? decodeURIComponent(text) : text)
}

function addText (made: SampleRequest, place: string | undefined, name: string, text: string) {
  const { headers } = made
  if (place === 'header') headers[name.toLowerCase()] = text
  else if (place === 'query') made.path += (made.path.includes('?') ? '&' : '?') + text
  else headers.cookie = headers.cookie === undefined ? text : `${headers.cookie}; ${text}`
}

function parameterText (parameter: Parameter, value: unknown): string {
  const name = encodeURIComponent(parameter.name)
  const isForm = parameter.in === 'query' || parameter.in === 'cookie'
  const { explode = isForm && (parameter.style ?? 'form') === 'form' } = parameter
  const style = (parameter.style ?? (isForm ? 'form' : 'simple')) as 'form'
  if (typeof value !== 'object' || value === null || parameter.content !== undefined) {
    return serializeArrayParam(name, [value], { style, explode: false })
  }
  if (Array.isArray(value)) {
    return serializeArrayParam(name, value.map(toText), { style, explode })
  }
  const members = Object.entries(value).map(([key, part]) => {
    return [encodeURIComponent(key), toText(part)]
  })
  if (members.length === 0) members.push(['any', 'x'])
  if (style.endsWith('Delimited')) {
    return serializeArrayParam(name, members.flat(), { style, explode: false })
  }
  return serializeObjectParam(name, Object.fromEntries(members), { style, explode })
}

function toText (value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Credentials that any verifier can read. */
function addCredentials (made: SampleRequest, scheme: SecurityScheme): void {
  const { type, in: place, name = '' } = scheme
  const isBasic = scheme.scheme?.toLowerCase() === 'basic'
  if (type !== 'apiKey') made.headers.authorization = isBasic ? 'Basic eDp5' : 'Bearer x'
  else addText(made, place, name, place === 'header' ? 'x' : `${name}=x`)
}

async function addBody (made: SampleRequest, type: string, value: unknown): Promise<void> {
  const kind = kindOf(type)
  const form = kind === 'multipart' ? new FormData() : new URLSearchParams()
  for (const [name, member] of Object.entries(Object(value))) {
    for (const item of [member].flat()) form.append(name, toText(item))
  }
  const isText = typeof value === 'string' && kind !== 'json' && kind !== 'lines'
  const text = isText ? value : linesMark(type) + JSON.stringify(value)
  const body = new Response(kind === 'form' || kind === 'multipart' ? form : text || 'x')
  const ownType = type.replaceAll('*', 'x')
  const sentType = kind === 'multipart' ? String(body.headers.get('content-type')) : ownType
  made.headers['content-type'] = sentType
  made.payload = Buffer.from(await body.arrayBuffer())
}

/** @param areWhole whether the schema of events describes more than their data */
function answerBody (type: string, value: unknown, areWhole: boolean): unknown {
  switch (kindOf(type)) {
    case 'json': return value
    case 'lines': return one(value)
    case 'events': return one(areWhole ? value : { data: value })
    case 'text': return String(value)
    default: return Readable.from([Buffer.from(String(value))])
  }
}

/** A Readable takes no null. */
async function * one (item: unknown): AsyncIterable<unknown> {
  yield item
}
