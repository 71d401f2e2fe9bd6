// Uploads and downloads. Bytes go through the disk, and never as a whole through memory.
import fastify, { type FastifyInstance } from 'fastify'
import { serveContract, serverOptions } from 'fastify-openapi-contract'
import { fileHandlers } from './files.ts'
import { contract, type Verifiers } from './generated/index.ts'

/** @param folder keeps the bytes */
export async function buildFiles (
  folder: string,
  verifiers: Verifiers
): Promise<FastifyInstance> {
  const app = fastify(serverOptions())
  await app.register(serveContract({
    contract,
    handlers: fileHandlers(folder),
    verifiers,
    bodyLimits: { fileBytes: 1_000_000, streamBytes: 1_000_000 }
  }))
  return app
}
