// Random connections: valid requests, requests of every kind, garbage in between and changes of
// single bytes.
import fc, { type Arbitrary } from 'fast-check'
import { authorization } from '../../fixtures/app.ts'
import { request } from '../../fixtures/raw.ts'
import type { Ending } from './client.ts'

/** Connections that are open at once. Each is a list of pieces, whose characters are bytes. */
export interface Group { connections: string[][], ending: Ending }

const byte = fc.integer({ min: 0, max: 255 }).map(code => String.fromCharCode(code))
const bytes = fc.string({ unit: byte, maxLength: 30 })
const number = fc.integer({ min: 0, max: 1e6 })
/** A plant, which is stored only when it is answered 200. */
const plant = number.map(id => `{"id":${id},"name":"plant ${id}"}`)

const endOfLine = fc.oneof(
  { weight: 30, arbitrary: fc.constant('\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\r', '\r\r\n', '\n\r', '\r\n ', ' \r\n') }
)
const usually = (usual: string, ...others: string[]) => fc.oneof(
  { weight: 20, arbitrary: fc.constant(usual) },
  { weight: 1, arbitrary: fc.constantFrom(...others) }
)
/** Mostly none. */
const few = <Value>(value: Arbitrary<Value>, maxLength: number) => fc.oneof(
  { weight: 4, arbitrary: fc.constant<Value[]>([]) },
  { weight: 1, arbitrary: fc.array(value, { minLength: 1, maxLength }) }
)
const methods = [
  'GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT', 'PROPFIND', 'QUERY', 'post', 'POSTT',
  ''
]
const targets = [
  '/', '/plants/', '/PLANTS', '/plants?x=%', '/plants?', '/plants#x', '/%70lants', '/plants%2f', '/%', '/%ff',
  '//plants',
  '/../plants', '*', 'plants', 'http://plants/plants', 'http://[', 'plants:80', '/livez', '/readyz', '/docs',
  '/docs/json',
  '/docs/static/../../x', '/\x80', '/\xff\xfe', `/${'x'.repeat(9000)}`, `/${'a/'.repeat(300)}`, '/__proto__',
  '/constructor'
]
const fields = fc.oneof(
  fc.constantFrom(
    'Host: other', 'Host:', 'Host: a b', 'Connection: close', 'Connection: keep-alive', 'Connection: upgrade',
    'Upgrade: websocket', 'Upgrade: h2c', 'HTTP2-Settings: x', 'Expect: 100-continue', 'Expect: other', 'Trailer: x',
    'Content-Encoding: gzip', 'Content-Type: text/plain', 'Content-Type: application/json;charset=utf-16',
    'Authorization: Bearer other', 'Authorization: ', `Authorization: ${authorization}`, 'Cookie: a=b; c',
    'TE: trailers',
    'Content-Length: 0', 'Content-Length: 5', 'Content-Length: -1', 'Content-Length: +5', 'Content-Length: 5, 5',
    'Content-Length: 99999999999999999999', 'Content-Length: 0x10', 'Content-Length: 70000', 'Content-Length : 5',
    'Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: identity', 'Transfer-Encoding : chunked', 'Transfer-Encoding:\tchunked', 'transfer-encoding:',
    'Transfer-Encoding: xchunked', ' folded', '\tfolded', ': no name', 'no colon', 'X: \0', 'X: \x80\xff', 'X\x80: 1',
    'X: \r',
    'Keep-Alive: timeout=1', 'Range: bytes=0-1', 'If-None-Match: *', 'X-HTTP-Method-Override: GET', '__proto__: x',
    'Access-Control-Request-Method: POST', 'Origin: null', 'Max-Forwards: 0'
  ),
  fc.tuple(bytes, bytes).map(([name, value]) => `${name}: ${value}`),
  fc.nat(20_000).map(length => `X-Long: ${'x'.repeat(length)}`),
  fc.nat(3000).map(count => Array.from({ length: count }, (_, index) => `X${index}: ${index}`).join('\r\n'))
)

/** A body in chunks, rarely with a wrong size, an extension or trailers. */
const chunked = (body: string) => fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 6 }),
  extension: usually('', ';x', ';x="\\""', ' ', ';\n', '\0'),
  off: usually('0', '1', '-1', '1000000', '4294967296'),
  end: usually('0\r\n\r\n', ...['X: y\r\n', 'Content-Length: 9\r\n', 'y\r\n', ':'].map(text => `0\r\n${text}\r\n`),
    '0\n\n', '00000\r\n\r\n', '0;\r\n\r\n', '-0\r\n\r\n', '')
}).map(({ sizes, extension, off, end }) => {
  let rest = body
  const chunks = [...sizes, body.length].map(size => {
    const chunk = rest.slice(0, size)
    rest = rest.slice(size)
    const length = (chunk.length + Number(off)).toString(16)
    return chunk === '' ? '' : `${length}${extension}\r\n${chunk}\r\n`
  })
  return { field: 'Transfer-Encoding: chunked', text: chunks.join('') + end }
})

const withLength = (body: string) => usually('0', '1', '-1', '20', '-10').map(off => {
  return { field: `Content-Length: ${Math.max(0, body.length + Number(off))}`, text: body }
})

/** A request whose body may hide another request. */
function requests (body: Arbitrary<string>, method: Arbitrary<string>, target: Arbitrary<string>): Arbitrary<string> {
  const framed = body.chain(text => fc.oneof(withLength(text), chunked(text)))
  const version = usually('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.2', 'HTTP/0.9', 'http/1.1', 'HTTP/11', '')
  return fc.record({
    framed,
    method,
    target,
    version,
    extra: few(fields, 2),
    place: fc.nat(4),
    end: endOfLine,
    first: endOfLine
  }).map(({ framed, method, target, version, extra, place, end, first }) => {
    const lines = ['Host: plants', `Authorization: ${authorization}`, 'Content-Type: application/json', framed.field]
    lines.splice(place, 0, ...extra)
    return `${method} ${target} ${version}${first}${lines.map(line => line + end).join('')}${end}${framed.text}`
  })
}

const post = fc.constant('POST')
const toPlants = fc.constant('/plants')
const valid = requests(plant, post, toPlants)
const anyRequest = requests(
  fc.oneof(plant, bytes, valid),
  fc.oneof(post, fc.constantFrom(...methods)),
  fc.oneof(toPlants, fc.constantFrom(...targets))
)
const others = [
  '\r\n', '\r\n\r\n', '\0', '\x16\x03\x01\x02\0\x01', '[', '0\r\n\r\n',
  `{"id":1}${' '.repeat(70_000)}`
]
const segment = fc.oneof(
  { weight: 6, arbitrary: valid },
  { weight: 2, arbitrary: anyRequest },
  // A body that looks like a request.
  { weight: 1, arbitrary: requests(valid, post, toPlants) },
  { weight: 1, arbitrary: bytes },
  { weight: 1, arbitrary: fc.constantFrom(...others) }
)

const fraction = fc.nat(10_000).map(number => number / 10_000)
/** A change at a place between 0, the start, and 1, the end. */
const edit = fc.record({
  place: fraction,
  removed: fc.nat(8),
  inserted: fc.oneof(
    fc.constant(''),
    bytes,
    fc.constantFrom('\r\n', '\n', ' ', '\0', ':', '\r\n\r\n', 'chunked', '0\r\n\r\n')
  )
})

const connection = fc.record({
  segments: fc.array(segment, { minLength: 1, maxLength: 4 }),
  edits: few(edit, 3),
  /** Places where the bytes are split; `every` splits at every byte. */
  cuts: fc.oneof(fc.constant([]), fc.array(fraction, { maxLength: 6 }), fc.constant('every' as const))
}).map(({ segments, edits, cuts }) => {
  const text = edits.reduce((text, { place, removed, inserted }) => {
    const at = Math.floor(place * text.length)
    return text.slice(0, at) + inserted + text.slice(at + removed)
  }, segments.join(''))
  return split(text, cuts)
})

/** At every byte only where that is not too many packets. */
function split (text: string, cuts: readonly number[] | 'every'): string[] {
  if (cuts === 'every') return text.length > 600 ? [text] : text.split('')
  const places = [0, ...cuts.map(cut => Math.floor(cut * text.length)).toSorted((a, b) => a - b), text.length]
  return places.slice(1).map((end, index) => text.slice(places[index], end))
}

export const connectionsPerGroup = 20

/** Waiting for time limits takes time, so few groups stay. */
const ending = fc.oneof(
  { weight: 35, arbitrary: fc.constant('halfClose' as const) },
  { weight: 2, arbitrary: fc.constant('stay' as const) },
  { weight: 3, arbitrary: fc.constant('reset' as const) }
)

/**
 * Alone on its connection: Node ends the connection after this method, also while an earlier
 * request is pending.
 */
const pri: Arbitrary<string[]> = fc.constantFrom(['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'], ['PRI /plants\r\n\r\n'])
const anyConnection = fc.oneof({ weight: 200, arbitrary: connection }, { weight: 1, arbitrary: pri })

export const groups: Arbitrary<Group> = fc.record({
  connections: fc.array(anyConnection, { minLength: 1, maxLength: connectionsPerGroup, size: 'max' }),
  ending
})

const one = request('{"id":1,"name":"plant 1"}')
const wanted = [
  one, one.replace('plant 1', 'plant 2'), request('{'), one.replace('/plants', '/plant'),
  one.replace('POST', 'PUT'), one.replace('POST', 'OPTIONS'), one.replace('application/json', 'text/plain'),
  request('{}', [`X-Long: ${'x'.repeat(20_000)}`])
]

/** Each ending and each usual status: few random groups stay, and a short run may miss a status. */
export const firstGroups: Group[] = (['halfClose', 'stay', 'reset'] as const).map(ending => {
  return { connections: wanted.map(text => [text]), ending }
})
