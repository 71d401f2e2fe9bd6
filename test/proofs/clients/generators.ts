// The generators of clients, and a program that uses the client of each.

export interface Generator {
  /** Writes the client to the folder `client`. The folder has no packages yet. */
  command: string
  files: Record<string, string>
  program: string
  /** The id that the program sends: an exact one beyond 2^53 where the types have bigint. */
  id: string
}

/** Node 22 and newer: every serializer then writes a bigint with all its digits. */
const exactIds = `
declare global {
  interface BigInt { toJSON (): unknown }
  interface JSON { rawJSON (text: string): object }
}
BigInt.prototype.toJSON = function () { return JSON.rawJSON(String(this)) }
const [id = '', name = ''] = process.argv.slice(2)
`
const token = "'Bearer ' + process.env.TOKEN"

const openapiFetch: Generator = {
  command: 'mkdir client && openapi-typescript ORIGIN/docs/json -o client/types.ts',
  files: {},
  program: `import createClient from 'openapi-fetch'
import type { paths } from './client/types.ts'
const [id = '', name = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl: 'ORIGIN', headers: { Authorization: ${token} } })
const body = { id: Number(id), name, tag: 'fern' }
const { data, error, response } = await client.POST('/plants', { body })
console.log(response.status, JSON.stringify(data ?? error))
`,
  id: '1'
}

const heyApi: Generator = {
  command: 'npx --yes --ignore-scripts -p @hey-api/openapi-ts@0.99.0 -p typescript@5.9.3 ' +
    '-c "openapi-ts -f config.mjs"',
  files: {
    'config.mjs': `export default {
  input: 'ORIGIN/docs/json',
  output: { path: 'client', module: { extension: '.ts' } },
  plugins: [
    '@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript',
    { name: '@hey-api/transformers', bigInt: true }
  ]
}`
  },
  program: `import { createPlant } from './client/index.ts'
import { client } from './client/client.gen.ts'
${exactIds}
client.setConfig({ baseUrl: 'ORIGIN', auth: process.env.TOKEN })
const body = { id: BigInt(id), name, tag: 'fern' }
const { data, error, response } = await createPlant({ body })
console.log(response?.status, JSON.stringify(data ?? error))
`,
  id: '9007199254740993'
}

const orval: Generator = {
  command: 'npx --yes --ignore-scripts orval@8.38.0 --config config.mjs',
  files: {
    'config.mjs': `export default {
  plants: {
    input: 'ORIGIN/docs/json',
    output: {
      target: 'client/plants.ts', client: 'fetch', baseUrl: 'ORIGIN', override: { useBigInt: true }
    }
  }
}`
  },
  program: `import { createPlant } from './client/plants.ts'
${exactIds}
const body = { id: BigInt(id), name, tag: 'fern' }
const { status, data } = await createPlant(body, { headers: { Authorization: ${token} } })
console.log(status, JSON.stringify(data))
`,
  id: '9223372036854775807'
}

export const generators = { 'openapi-typescript': openapiFetch, '@hey-api/openapi-ts': heyApi, orval }
