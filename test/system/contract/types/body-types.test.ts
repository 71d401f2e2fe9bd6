// Compiles handlers for bodies of every kind, and mistakes in them, against the generated types.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import {
  checkMistakes, compilePrograms, type Mistake, withMistakes
} from '../../../fixtures/compiler.ts'

const program = `
import type { Readable } from 'node:stream'
import type { Answer, Handler } from '${resolve('src/contract/index.ts')}'
import type { operations } from './generated/types.ts'

export const sendText: Handler<operations, 'sendText'> = (
  { body }
): Answer<operations, 'sendText'> => {
  const text: string = body
  return { status: 200, body: text }
}

export const sendBytes: Handler<operations, 'sendBytes'> = (
  { body }
): Answer<operations, 'sendBytes'> => {
  const stream: Readable | undefined = body
  return { status: 200, body: stream?.readable }
}

export const sendMaybe: Handler<operations, 'sendMaybe'> = (
  request
): Answer<operations, 'sendMaybe'> => {
  if (request.contentType === 'text/csv') return { status: 200, body: request.body.toUpperCase() }
  if (request.contentType === 'application/json') return { status: 200, body: request.body + 1 }
  const none: undefined = request.body
  return { status: 200, body: none }
}

export const sendImage: Handler<operations, 'sendImage'> = (
  { body, contentType }
): Answer<operations, 'sendImage'> => {
  const image: \`image/\${string}\` = contentType
  return { status: 200, body: [image, body.readable] }
}

export const sendForm: Handler<operations, 'sendForm'> = (
  { body }
): Answer<operations, 'sendForm'> => {
  const id: bigint = body.id
  const owner: bigint | undefined = body.filter?.owner?.id
  return { status: 200, body: [id, owner] }
}

export const sendLines: Handler<operations, 'sendLines'> = async (
  { body }
): Promise<Answer<operations, 'sendLines'>> => {
  let sum = 0n
  for await (const order of body ?? []) sum += order.id
  return { status: 200, body: sum }
}

export const upload: Handler<operations, 'upload'> = async (
  { body }
): Promise<Answer<operations, 'upload'>> => {
  for await (const part of body) {
    if (part.name === 'id') {
      const id: bigint = part.value
      return { status: 200, body: id }
    } else if (part.name === 'avatar') {
      const file: Readable = part.file
      const { filename, contentType }: { filename: string | undefined, contentType: string } = part
      return { status: 200, body: [file.readable, filename, contentType] }
    } else if (part.name === 'attachments') {
      part.file.resume()
    } else if (part.name === 'labels') {
      const label: string = part.value
      return { status: 200, body: label }
    } else if (part.name === 'places') {
      const place: bigint | undefined = part.value.number
      return { status: 200, body: place }
    } else if (part.name === 'source') {
      if (part.file === undefined) return { status: 200, body: part.value.toUpperCase() }
      part.file.resume()
    }
  }
  return { status: 200, body: null }
}
`

const mistakes: Record<string, Mistake> = {
  'a text as an object': [
    'const text: string = body',
    'const text: object = body',
    /'string' is not assignable/
  ],
  'bytes that may be absent': ['stream?.readable', 'body.readable', /possibly 'undefined'/],
  'an undeclared media type': ["=== 'text/csv'", "=== 'text/xml'", /have no overlap/],
  'the body of another media type': [
    'request.body + 1',
    'request.body.length',
    /'length' does not exist/
  ],
  'a body before its media type is known': [
    'const none: undefined',
    'const none: string',
    /not assignable/
  ],
  'a member that the form lacks': [
    'body.filter?.owner?.id',
    'body.filter?.owner?.ids',
    /'ids' does not exist/
  ],
  'lines that may be absent': ['body ?? []', 'body', /possibly 'undefined'|must have a/],
  'a member that the lines lack': ['order.id', 'order.size', /'size' does not exist/],
  'a readOnly member of lines': ['order.id', 'BigInt(order.seen)', /'seen' does not exist/],
  'an undeclared part': ["=== 'labels'", "=== 'label'", /have no overlap/],
  'a field as a file': [
    'const id: bigint = part.value',
    'part.file.resume(); const id = 1',
    /'resume' does not exist|'part.file' is possibly 'undefined'/
  ],
  'a file as a field': [
    'const file: Readable = part.file',
    'const file = part.value',
    /'value' does not exist/
  ],
  'a part that may be either': [
    'if (part.file === undefined) ',
    'if (part.file !== undefined) ',
    /part.value|'value'/
  ],
  'a readOnly part': ["=== 'places'", "=== 'secret'", /have no overlap/]
}

t.test('handlers get bodies typed by media type, and mistakes do not compile', async t => {
  const contract = readFileSync('test/fixtures/contracts/bodies.yaml', 'utf8')
  const programs = withMistakes(t, program, mistakes)
  const { messages } = await compilePrograms(t, contract, programs)
  checkMistakes(t, program, mistakes, messages)
})
