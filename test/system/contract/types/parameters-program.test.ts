// The types of parameters are those of the values that a handler gets, also of operations of which
// one has a path with a fragment.
import { join, resolve } from 'node:path'
import t from 'tap'
import type { Contract } from '../../../../src/contract/index.ts'
import {
  checkMistakes, compilePrograms, type Mistake, withMistakes
} from '../../../fixtures/compiler.ts'
import {
  contractText, jsonBody, jsonContent, jsonResponse, parameter, serveLoaded
} from '../../../fixtures/contract.ts'

const int64 = '{ type: integer, format: int64 }'
const int64s = `{ type: array, items: ${int64} }`
const range = `{ type: object, required: [from], properties: { from: ${int64}, to: ${int64} } }`

const page = jsonContent('{ properties: { n: { type: integer } }, default: {} }')
const spread = '{ type: object, properties: { on: { type: boolean } } }'
const deep = `{ type: object, additionalProperties: ${int64s} }`

const contract = contractText({
  paths: `
  /{cell}:
    get:
      operationId: read
      parameters:
        - ${parameter('cell', 'path', range, ', style: matrix')}
        - ${parameter('spread', 'query', spread)}
        - ${parameter('deep', 'query', deep, ', style: deepObject')}
        - ${parameter('piped', 'query', int64s, ', style: pipeDelimited, required: true')}
        - { name: json, in: query, ${jsonContent(range)} }
        - { $ref: '#/components/parameters/Page' }
        - name: text
          in: query
          ${jsonContent('{ type: string, enum: [a, b] }', 'text/plain')}
        - ${parameter('theme', 'cookie', '{ type: array, items: { type: string } }')}
      responses:
        '200':
          description: fine
          headers:
            X-Range: { required: true, schema: ${range} }
            X-Json: { required: true, ${jsonContent(range)} }
  /files/{id}:
    put:
      operationId: update
      parameters: [${parameter('id', 'path', int64)}]
      ${jsonBody('{ type: object, required: [size], properties: { size: { type: integer } } }')}
      ${jsonResponse('{ type: object, required: [bytes], properties: { bytes: { type: integer } } }')}
  /files/{id}#share:
    put:
      operationId: share
      parameters: [${parameter('id', 'path', int64)}, ${parameter('fields', 'query', '{ type: string }', ', required: true')}]
      ${jsonBody('{ type: object, required: [link], properties: { link: { type: string } } }')}
      ${jsonResponse('{ type: object, required: [url], properties: { url: { type: string } } }')}`,
  components: `
  parameters:
    Page: { name: page, in: query, ${page} }`
})

const program = `
import type { Answer, Handlers } from '${resolve('src/contract/index.ts')}'
import type { operations } from './generated/types.ts'

interface Range { from: bigint, to?: bigint }

export const handlers: Handlers<operations, 'read' | 'update'> = {
  update ({ path, query, body }): Answer<operations, 'update'> {
    if ('size' in body) return { status: 200, body: { bytes: body.size } }
    const fields: string = query.fields ?? 'none'
    return { status: 200, body: { url: [path.id, body.link, fields].join() } }
  },
  read ({ path, query, cookie }): Answer<operations, 'read'> {
    const cell: Range = path.cell
    const on: boolean | undefined = query.spread?.on
    const deep: Record<string, bigint[]> | undefined = query.deep
    const sum: bigint = query.piped.reduce((a, b) => a + b)
    const json: Range | undefined = query.json
    const page: number | undefined = query.page.n
    const text: 'a' | 'b' | undefined = query.text
    const theme: string[] | undefined = cookie.theme
    if (!on || page !== 2 || text !== 'b' || theme?.[0] !== 'dark') {
      throw new Error('other values')
    }
    const to = (deep?.a?.[0] ?? 0n) + (json?.from ?? 0n)
    return { status: 200, headers: { 'X-Range': cell, 'X-Json': { from: sum, to } } }
  }
}
`

const mistakes: Record<string, Mistake> = {
  'a member of another type': [
    'interface Range { from: bigint,',
    'interface Range { from: number,',
    /'bigint' is not assignable to type 'number'/,
    'path.cell'
  ],
  'an optional parameter without a check': [
    'query.page.n',
    'query.json.from',
    /possibly 'undefined'/
  ],
  'a text in place of an object': [
    "'X-Range': cell",
    "'X-Range': 'from,1'",
    /'string' is not assignable/
  ],
  'a member of the other body of a path with a fragment': [
    'bytes: body.size',
    'bytes: body.link',
    /Property 'link' does not exist/
  ],
  'a parameter that only one of two operations requires': [
    "query.fields ?? 'none'",
    'query.fields',
    /'undefined' is not assignable to type 'string'/
  ],
  'an answer of neither operation': [
    'body: { url: [',
    'body: { uri: [',
    /'uri' does not exist/
  ],
  'a value that is not handled': [
    "'a' | 'b' | undefined",
    "'a' | undefined",
    /'"b"' is not assignable/
  ]
}

t.test('the types of objects, content and united operations are those of their values', async t => {
  const programs = withMistakes(t, program, mistakes)
  const { folder, messages } = await compilePrograms(t, contract, programs)
  checkMistakes(t, program, mistakes, messages)

  const { handlers } = await import(join(folder, 'program.ts'))
  const served: Contract = await import(join(folder, 'generated/operations.ts'))
  const { app } = await serveLoaded(t, served, { handlers })
  const json = (text: string) => encodeURIComponent(text)
  const query = [
    'on=true',
    'deep[a]=9007199254740993',
    'piped=9007199254740993|2',
    `json=${json('{"from":1}')}`,
    `page=${json('{"n":2}')}`,
    'text=b'
  ]
  const url = `/;cell=from,9007199254740993?${query.join('&')}`
  const { headers } = await app.inject({ url, headers: { cookie: 'theme=dark' } })
  t.match(headers, {
    'x-range': 'from,9007199254740993',
    'x-json': '{"from":9007199254740995,"to":9007199254740994}'
  })

  const put = async (payload: object) => (await app.inject({ method: 'PUT', url: '/files/1', payload })).json()
  t.strictSame(await put({ size: 1 }), { bytes: 1 })
  t.strictSame(await put({ link: 'a' }), { url: '1,a,none' })
})
