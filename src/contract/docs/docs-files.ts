// Answers the page and its files from memory, as they are or compressed, with what browsers need to
// keep them. Reading the file for each response takes 20 times as long.
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { takeTurns } from '../server/turns.ts'

/** A response that is made once. */
export interface Rendered { type: string, bytes: Buffer }

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
type Render = (below: string) => Promise<Rendered | undefined>
type FileHandler = (below: string, openPage: () => Promise<Render>) => Handler

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
/** Characters of a field about the response; a longer one takes too long to parse. */
const longestField = 256
const compress = promisify(gzip)

/**
 * Returns a function that makes the handler of a path of the page. It answers what the path has
 * below it, or the file of the folder that the parameter `*` names. Links to the files get a
 * version: a browser keeps a file with the current one.
 * @param configuration the version changes with it
 */
export function createFileHandler (path: string, configuration: string): FileHandler {
  const startLater = (startTurn: () => void) => setTimeout(startTurn, turn.ms)
  const takeTurn = promisify(takeTurns('its file', turn.bytes, startLater))
  const readFiles = once(() => readFolder(path, configuration))

  return (below, openPage) => {
    const pages = new Map<string, HeldFile>()
    const find = async (name: string) => {
      const { files, version } = await readFiles()
      const path = below.replace('*', () => name)
      const known = files.get(name) ?? pages.get(path)
      if (known !== undefined) return { file: known, version }
      const rendered = await (await openPage())(path)
      if (rendered === undefined) return undefined
      const file = holdFile(withVersion(rendered, version), rendered.type)
      pages.set(path, file)
      return { file, version }
    }
    return async (request, reply) => {
      const { '*': name = '' } = request.params as { '*'?: string }
      const found = await find(name)
      if (found === undefined) return reply.callNotFound()
      const { file, version } = found
      const isLasting = request.url.endsWith(`?v=${version}`)
      const fields = {
        'Cache-Control': isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
        ETag: file.tag,
        Vary: [reply.getHeader('Vary') ?? [], 'Accept-Encoding'].flat().join(', ')
      }
      if (isKnown(file, request)) return reply.code(304).headers(fields).send()
      const bytes = await encode(file, request)
      if (request.method !== 'HEAD') await takeTurn(bytes.length)
      if (bytes !== file.plain) reply.header('Content-Encoding', 'gzip')
      return reply.type(file.type).headers(fields).send(bytes)
    }
  }
}

/** Calls a function once for all callers, and again after it has failed. */
export function once<T> (call: () => Promise<T>): () => Promise<T> {
  let called: Promise<T> | undefined
  return () => {
    called ??= call().catch(error => {
      called = undefined
      throw error
    })
    return called
  }
}

/** A page with versions in its links to files. */
function withVersion ({ type, bytes }: Rendered, version: string): Buffer {
  if (!type.startsWith('text/html')) return bytes
  return Buffer.from(String(bytes).replace(/(?<=")[^"]*\/static\/[^"]+/g, `$&?v=${version}`))
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
  const { 'if-none-match': known = '' } = headers
  if (known.length > longestField) return false
  const opaque = (text: string) => text.trim().replace(/^W\//, '')
  const tags = known.split(',').map(opaque)
  return tags.includes(opaque(tag)) || tags.includes('*')
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
