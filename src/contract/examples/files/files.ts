// The handlers of all operations. They were generated with `--int64 number`.
import { HttpError } from 'fastify-openapi-contract'
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Handlers, Schema } from './generated/index.ts'

interface StoredFile {
  file: Schema<'File'>
  contentType: `${string}/${string}`
}

export function fileHandlers (folder: string): Handlers {
  const files = new Map<string, StoredFile>()
  const pathOf = (id: string) => join(folder, id)

  function storedFile (id: string): StoredFile {
    const stored = files.get(id)
    if (stored === undefined) throw new HttpError(404, `There is no file ${id}.`)
    return stored
  }

  /** Writes the bytes as they arrive, and returns their number. */
  async function save (id: string, bytes: Readable): Promise<number> {
    const target = createWriteStream(pathOf(id))
    await pipeline(bytes, target)
    return target.bytesWritten
  }

  return {
    async createFile ({ body }) {
      const id = `file-${randomUUID()}`
      const createdAt = Math.floor(Date.now() / 1000)
      const file: StoredFile['file'] =
        { id, bytes: 0, created_at: createdAt, filename: '', purpose: 'batch' }
      let contentType: StoredFile['contentType'] = 'application/octet-stream'
      try {
        for await (const part of body) {
          if (part.name === 'purpose') {
            file.purpose = part.value
          } else {
            file.filename = part.filename ?? 'unnamed'
            contentType = part.contentType
            file.bytes = await save(id, part.file)
          }
        }
      } catch (error) {
        // A part may break the contract after the file was written, or the client may go away.
        await rm(pathOf(id), { force: true })
        throw error
      }
      files.set(id, { file, contentType })
      return { status: 200, body: file }
    },

    listFiles ({ query: { min_bytes: minBytes } }) {
      const data = Array.from(files.values(), ({ file }) => file)
        .filter(({ bytes }) => bytes >= minBytes)
      let total = 0
      for (const { bytes } of data) total = total + bytes
      return { status: 200, body: { data, total_bytes: total } }
    },

    readFile ({ path: { file_id: id } }) {
      return { status: 200, body: storedFile(id).file }
    },

    async deleteFile ({ path: { file_id: id } }) {
      storedFile(id)
      files.delete(id)
      await rm(pathOf(id))
      return { status: 204 }
    },

    downloadFile ({ path: { file_id: id } }) {
      const { file, contentType } = storedFile(id)
      const name = encodeURIComponent(file.filename)
      return {
        status: 200,
        headers: { 'Content-Disposition': `attachment; filename*=UTF-8''${name}` },
        contentType,
        body: createReadStream(pathOf(id))
      }
    },

    async replaceContent ({ path: { file_id: id }, contentType, body }) {
      const stored = storedFile(id)
      stored.contentType = contentType
      stored.file.bytes = await save(id, body)
      return { status: 200, body: stored.file }
    }
  }
}
