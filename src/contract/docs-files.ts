// Answers the routes of the page from memory, as they are or compressed, with what browsers need to
// keep them. Reading the file for each response takes 20 times as long.
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { HttpError } from '../server/http-error.ts'
import { takeTurns } from '../server/turns.ts'
import { decodedPath } from './message/request-texts.ts'

interface HeldFile {
  type: string
  plain: Buffer
  /** Absent until a client takes it. */
  compressed?: Promise<Buffer>
  /** The entity tag. It is weak, because both encodings have it. */
  tag: string
  /** Milliseconds since 1970; NaN for what the plugin makes. */
  modified: number
}

/** The files of a folder by name, and their common version. */
interface Folder { files: ReadonlyMap<string, HeldFile>, version: string }

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'application/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml'
}
/**
 * Bytes, and milliseconds: 100 large files a second, so that sending takes about a twentieth of the
 * time of a thread.
 */
const turn = { bytes: 512 * 1024, ms: 10 }
const compress = promisify(gzip)

/**
 * Keeps each first response of a plugin's routes, and the files that its route `/static/*` serves.
 * Links to them get a version: a browser keeps a file with the current one.
 * @param docs where the plugin is registered afterwards
 * @param configuration the version changes with it
 */
export function holdFiles (docs: FastifyInstance, path: string, configuration: string): void {
  const held = new Map<string, HeldFile>()
  const chosen = new WeakMap<FastifyRequest, HeldFile>()
  const takeTurn = promisify(takeTurns(turn.bytes, startTurn => setTimeout(startTurn, turn.ms)))
  let reading: Promise<Folder> | undefined
  const readOnce = () => {
    reading ??= readFolder(path, configuration).catch(error => {
      reading = undefined
      throw error
    })
    return reading
  }
  /** The links of the page depend on a slash at the end of its address. */
  const keyOf = ({ routeOptions, url }: FastifyRequest) => {
    return `${routeOptions.url} ${url.endsWith('/')}`
  }

  function send (file: HeldFile, request: FastifyRequest, reply: FastifyReply): void {
    chosen.set(request, file)
    reply.type(file.type).send(file.plain)
  }

  async function sendStatic (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { files } = await readOnce()
    const file = files.get((request.params as { '*': string })['*'])
    if (file === undefined) throw new HttpError(404, `There is nothing at ${decodedPath(request)}.`)
    send(file, request, reply)
    return reply
  }

  docs.addHook('onRoute', route => {
    const { handler } = route
    if (route.url.endsWith('/static/*')) route.handler = sendStatic
    else {
      route.handler = function (request, reply) {
        const file = held.get(keyOf(request))
        return file === undefined ? handler.call(this, request, reply) : send(file, request, reply)
      }
    }
  })
  docs.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode !== 200) return payload
    const { version } = await readOnce()
    let file = chosen.get(request)
    if (file === undefined) {
      const type = String(reply.getHeader('content-type'))
      const link = type.startsWith('text/html') ? /(?<=")[^"]*\/static\/[^"]+/g : /$^/
      const text = String(payload).replace(link, `$&?v=${version}`)
      file = holdFile(Buffer.from(text), type, NaN)
      held.set(keyOf(request), file)
    }
    const isLasting = request.url.endsWith(`?v=${version}`)
    return represent(file, isLasting, request, reply, takeTurn)
  })
}

async function readFolder (path: string, configuration: string): Promise<Folder> {
  const files = new Map<string, HeldFile>()
  const versions = createHash('sha256').update(configuration)
  for (const name of await readdir(path)) {
    const file = join(path, name)
    const bytes = await readFile(file)
    versions.update(bytes)
    const type = types[extname(name)] ?? 'application/octet-stream'
    files.set(name, holdFile(bytes, type, (await stat(file)).mtimeMs))
  }
  return { files, version: versions.digest('base64url').slice(0, 16) }
}

function holdFile (plain: Buffer, type: string, modified: number): HeldFile {
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  // Header fields have whole seconds.
  return { type, plain, tag: `W/"${hash}"`, modified: Math.floor(modified / 1000) * 1000 }
}

/**
 * Returns the bytes for a request, null if the client has them, and sets the header fields.
 * @throws HttpError for a condition or a range that does not hold, and under overload
 */
async function represent (
  file: HeldFile,
  isLasting: boolean,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  takeTurn: (size: number) => Promise<void>
): Promise<Buffer | null> {
  const fields: Record<string, string> = {
    'Cache-Control': isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: file.tag
  }
  const varied = reply.getHeader('Vary')
  fields.Vary = varied === undefined ? 'Accept-Encoding' : `${varied}, Accept-Encoding`
  if (!isNaN(file.modified)) fields['Last-Modified'] = new Date(file.modified).toUTCString()
  if (isKnown(file, headers)) {
    reply.code(304).headers(fields).removeHeader('content-type')
    return null
  }
  let bytes = file.plain
  const range = findRange(file, headers)
  if (range !== undefined) {
    bytes = file.plain.subarray(range.first, range.last + 1)
    fields['Content-Range'] = `bytes ${range.first}-${range.last}/${file.plain.length}`
  } else if (new Negotiator({ headers }).encoding(['gzip', 'identity']) === 'gzip') {
    file.compressed ??= compress(file.plain)
    const compressed = await file.compressed
    if (compressed.length < file.plain.length) {
      bytes = compressed
      fields['Content-Encoding'] = 'gzip'
    }
  }
  await takeTurn(bytes.length)
  reply.code(range === undefined ? 200 : 206).headers(fields).header('Accept-Ranges', 'bytes')
  return bytes
}

type Headers = FastifyRequest['headers']

/** Whether the client has the file (RFC 9110, section 13.2.2). */
function isKnown ({ tag, modified }: HeldFile, headers: Headers): boolean {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  const dateOf = (name: 'if-modified-since' | 'if-unmodified-since') => {
    return Date.parse(headers[name] ?? '')
  }
  const isFailed = match === undefined
    ? modified > dateOf('if-unmodified-since')
    : !namesTag(match, tag)
  if (isFailed) throw new HttpError(412, 'The file does not meet a condition of the request.')
  if (noneMatch !== undefined) return namesTag(noneMatch, tag)
  return modified <= dateOf('if-modified-since')
}

function namesTag (list: string, tag: string): boolean {
  return list.trim() === '*' || list.split(',').some(item => item.trim() === tag)
}

/** Undefined means the whole file: without a range, with several, or for an older file. */
function findRange (
  { plain, tag }: HeldFile,
  { range = '', 'if-range': condition = tag }: Headers
): { first: number, last: number } | undefined {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? []
  if (from === undefined || from + to === '' || condition !== tag) return undefined
  const end = plain.length - 1
  const first = from === '' ? Math.max(0, plain.length - Number(to)) : Number(from)
  const last = from === '' || to === '' ? end : Math.min(end, Number(to))
  if (to !== '' && from !== '' && Number(to) < Number(from)) return undefined
  if (first <= end) return { first, last }
  const headers = { 'Content-Range': `bytes */${plain.length}` }
  throw new HttpError(416, 'The file does not have that range of bytes.', { headers })
}
