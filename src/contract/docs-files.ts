// Answers the routes of the page from memory, as they are or compressed, with what browsers need to
// keep them. Reading the file for each response takes 20 times as long.
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { takeTurns } from '../server/turns.ts'

interface HeldFile {
  type: string
  plain: Buffer
  /** Absent until a client takes it. */
  compressed?: Promise<Buffer>
  /** The entity tag. It is weak, because both encodings have it. */
  tag: string
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
/** Characters of Accept-Encoding; a longer one is ignored, because parsing it takes too long. */
const longestField = 256
const compress = promisify(gzip)

/**
 * Keeps each first response of a plugin's routes, and the files that its route `/static/*` serves.
 * Links to them get a version: a browser keeps a file with the current one.
 * @param docs where the plugin is registered afterwards
 * @param configuration the version changes with it
 */
export function holdFiles (docs: FastifyInstance, path: string, configuration: string): void {
  const responses = new Map<string, HeldFile>()
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
  const find = async (request: FastifyRequest) => {
    const { '*': name = '' } = request.params as { '*'?: string }
    return (await readOnce()).files.get(name) ?? responses.get(keyOf(request))
  }

  docs.addHook('onRoute', route => {
    const { handler, url } = route
    route.handler = async function (request, reply) {
      const file = await find(request)
      if (file !== undefined) return reply.type(file.type).send(file.plain)
      if (url.endsWith('/static/*')) return reply.callNotFound()
      return handler.call(this, request, reply) ?? reply
    }
  })
  docs.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode !== 200) return payload
    const { version } = await readOnce()
    let file = await find(request)
    if (file === undefined) {
      const type = String(reply.getHeader('content-type'))
      const link = type.startsWith('text/html') ? /(?<=")[^"]*\/static\/[^"]+/g : /$^/
      file = holdFile(Buffer.from(String(payload).replace(link, `$&?v=${version}`)), type)
      responses.set(keyOf(request), file)
    }
    const isLasting = request.url.endsWith(`?v=${version}`)
    const fields = {
      'Cache-Control': isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
      ETag: file.tag,
      Vary: [reply.getHeader('Vary') ?? [], 'Accept-Encoding'].flat().join(', ')
    }
    if (isKnown(file, request)) {
      reply.code(304).headers(fields).removeHeader('content-type')
      return null
    }
    const bytes = await encode(file, request)
    await takeTurn(bytes.length)
    if (bytes !== file.plain) reply.header('Content-Encoding', 'gzip')
    reply.headers(fields)
    return bytes
  })
}

async function readFolder (path: string, configuration: string): Promise<Folder> {
  const files = new Map<string, HeldFile>()
  let versions = configuration
  for (const name of await readdir(path)) {
    const file = holdFile(await readFile(join(path, name)), types[extname(name)])
    files.set(name, file)
    versions += file.tag
  }
  return { files, version: hash('sha256', versions, 'base64url').slice(0, 16) }
}

function holdFile (plain: Buffer, type = 'application/octet-stream'): HeldFile {
  return { type, plain, tag: `W/"${hash('sha256', plain, 'base64url').slice(0, 22)}"` }
}

/** Whether the client has the file (RFC 9110, section 13.1.2). */
function isKnown ({ tag }: HeldFile, { headers }: FastifyRequest): boolean {
  const tags = headers['if-none-match']?.split(',').map(text => text.trim()) ?? []
  return tags.includes(tag) || tags.includes('*')
}

/** The compressed bytes for a client that accepts them, if they are fewer. */
async function encode (file: HeldFile, { headers }: FastifyRequest): Promise<Buffer> {
  const { length } = headers['accept-encoding'] ?? ''
  if (length > longestField) return file.plain
  const encoding = new Negotiator({ headers }).encoding(['gzip', 'identity'])
  if (encoding !== 'gzip') return file.plain
  file.compressed ??= compress(file.plain)
  const compressed = await file.compressed
  return compressed.length < file.plain.length ? compressed : file.plain
}
