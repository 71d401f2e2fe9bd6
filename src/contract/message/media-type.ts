// Media types and their ranges, as a contract and as requests write them. All functions take linear
// time: a request may send thousands of spaces where a pattern looks for a semicolon.

type Kind = 'json' | 'lines' | 'text' | 'form' | 'multipart' | 'events' | 'bytes'

/** A media type without its parameters, in lower case (RFC 9110, section 8.3.1). */
export function essence (type: string): string {
  const end = type.indexOf(';')
  return (end < 0 ? type : type.slice(0, end).trimEnd()).toLowerCase()
}

/** JSON values one after another: JSON lines, or JSON text sequences (RFC 7464 and RFC 8091). */
const lines = /^(?:application\/(?:jsonl|x-ndjson|json-seq)|[^/]+\/.+\+json-seq)$/

/** How a body of a media type or range is read and written; types/body.ts has the same types. */
export function kindOf (type: string): Kind {
  const name = essence(type)
  if (name === 'application/json' || /^[^/]+\/.+\+json$/.test(name)) return 'json'
  if (lines.test(name)) return 'lines'
  if (name === 'application/x-www-form-urlencoded') return 'form'
  if (name === 'multipart/form-data') return 'multipart'
  if (name === 'text/event-stream') return 'events'
  return name.startsWith('text/') ? 'text' : 'bytes'
}

/** What begins each of the JSON values: nothing, or the mark of a JSON text sequence. */
export function linesMark (type: string): string {
  return essence(type).endsWith('json-seq') ? '\x1e' : ''
}

const token = "[!#$%&'*+.^`|~\\w-]+"
// RFC 9110, section 5.6.6: parameters may be empty.
const empty = '(?:[ \\t]*;)'
const next = `${empty}+[ \\t]*`
const charset = `(?:${next}charset=(?:utf-8|"utf-8"))?`
// RFC 2046, section 5.1.1. Many clients send one without quotes that needs them.
const boundaryCharacters = "\\w'()+,./:=?-"
const boundary = `${next}boundary=(?:[${boundaryCharacters}]{1,70}|` +
  `"[ ${boundaryCharacters}]{0,69}[${boundaryCharacters}]")`
const anyParameters = `(?:${next}${token}=(?:${token}|"(?:[^"\\\\]|\\\\.)*"))*`

/** What may follow a media type in Content-Type. The handler reads the parameters of bytes. */
const parameters: Readonly<Record<Kind, string>> = {
  json: charset,
  lines: charset,
  text: charset,
  form: charset,
  multipart: `${charset}${boundary}${charset}`,
  events: anyParameters,
  bytes: anyParameters
}

/**
 * Matches the Content-Type of requests that one of these media types and ranges admits. It compares
 * strictly: lenient readings of Content-Type have let bodies pass without validation
 * (CVE-2025-32442 and others).
 * @param after a pattern for the end, by default the parameters of the media type's kind
 */
export function mediaTypePattern (types: readonly string[], after?: string): RegExp {
  const sources = types.map(type => {
    const name = RegExp.escape(essence(type)).replaceAll('\\*', token)
    return `${name}${after ?? `${parameters[kindOf(type)]}${empty}*`}`
  })
  return new RegExp(`^(?:${sources.join('|')})$`, 'i')
}

/**
 * Finds the most specific of these media types and ranges for a Content-Type (OpenAPI 3.1, section
 * 4.8.14). A range never reads a type that the contract names, also with other parameters.
 */
export function mediaTypeFinder (types: readonly string[]): (sent: string) => string | undefined {
  const asterisks = (name: string) => name.split('*').length
  const readers: Array<{ name: RegExp, find: (sent: string) => string | undefined }> = []
  const keysOf = Map.groupBy(types, essence)
  for (const name of [...keysOf.keys()].sort((a, b) => asterisks(a) - asterisks(b))) {
    const find = keyFinder(keysOf.get(name) as string[])
    readers.push({ name: mediaTypePattern([name], ''), find })
  }
  const find = (sent: string) => {
    const sentName = essence(sent)
    return readers.find(({ name }) => name.test(sentName))?.find(sent)
  }
  // Most clients send a media type as the contract writes it.
  const known = new Map(types.map(type => [type, find(type)]))
  return sent => known.get(sent) ?? find(sent)
}

/**
 * Finds one of the keys of the same name by its parameters: exactly these may be sent, in any
 * order, beside a charset. Without parameters it finds the key without them, or else the first.
 */
function keyFinder (keys: string[]): (sent: string) => string | undefined {
  const [first = ''] = keys
  const kind = kindOf(first)
  // The first of equal keys stays.
  const byParameters = new Map(keys.toReversed().map(key => [textOf(ownParameters(key)), key]))
  const plain = byParameters.get('[]')
  const whole = mediaTypePattern([first])
  if (plain !== undefined && byParameters.size === 1) {
    return sent => whole.test(sent) ? plain : undefined
  }
  if (plain === undefined) byParameters.set('[]', first)
  const withAny = mediaTypePattern([first], `${anyParameters}${empty}*`)
  return sent => {
    const own = withAny.test(sent) ? textOf(withoutCharset(parametersOf(sent), kind)) : ''
    const exact = byParameters.get(own)
    return exact ?? (whole.test(sent) ? plain : undefined)
  }
}

/** The parameters that select among keys of one name: the engine reads a charset and a boundary. */
export function ownParameters (type: string): string[] {
  if (kindOf(type) === 'multipart') return []
  return parametersOf(type).filter(parameter => !parameter.startsWith('charset='))
}

/** Leaves out one charset: of a body that is read here, only UTF-8. */
function withoutCharset (sent: string[], kind: Kind): string[] {
  const isAny = kind === 'bytes' || kind === 'events'
  const charset = isAny ? /^charset=/ : /^charset=utf-8$/i
  const index = sent.findIndex(parameter => charset.test(parameter))
  return index < 0 ? sent : sent.toSpliced(index, 1)
}

const parameterPattern =
  new RegExp(`;[ \\t]*(${token})=(?:(${token})|"((?:[^"\\\\]|\\\\.)*)")`, 'g')

/** As `name=value`. The names of parameters have no case (RFC 9110, section 5.6.6). */
function parametersOf (type: string): string[] {
  return Array.from(type.matchAll(parameterPattern), ([, name = '', value, quoted = '']) => {
    return `${name.toLowerCase()}=${value ?? quoted.replace(/\\(.)/g, '$1')}`
  })
}

function textOf (parameters: string[]): string {
  return JSON.stringify(parameters.toSorted())
}

const mediaType = /^[\w!#$&^`|~.+-]+\/[\w!#$&^`|~.+-]+(?:[ \t]*;[ -~]*)?$/

/** Whether a text is a media type, also with parameters, and not a range (RFC 9110, 8.3.1). */
export function isMediaType (text: string | undefined): text is `${string}/${string}` {
  return text !== undefined && mediaType.test(text)
}

/** Whether a media type is a range, such as `image/*` (RFC 9110, section 12.5.1). */
export function isRange (type: string): boolean {
  return essence(type).endsWith('/*')
}

/** Whether a media type, and not a range, is in a range. */
export function isInRange (type: string, range: string): boolean {
  if (isRange(type)) return false
  return essence(range) === '*/*' || essence(type).startsWith(essence(range).slice(0, -1))
}

/** The Content-Type of an answer: JSON and text are UTF-8. */
export function sentType (type: string): string {
  if (!['json', 'text'].includes(kindOf(type))) return type
  const kept = type.replace(parameterPattern, (parameter, name) => {
    return /^charset$/i.test(name) ? '' : parameter
  })
  return `${kept.trimEnd()}; charset=utf-8`
}
