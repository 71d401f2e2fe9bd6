// A handler cannot answer with an error body whose `error` contradicts the status.
import { resolve } from 'node:path'
import t from 'tap'
import {
  checkMistakes, compilePrograms, type Mistake, withMistakes
} from '../../fixtures/compiler.ts'

const program = `
import type { Answer } from '${resolve('src/contract/types/answer.ts')}'
import type { Handler, Handlers } from '${resolve('src/contract/types/handler.ts')}'
import type * as contract from '${resolve('generated/operations.ts')}'
import { errorBody } from '${resolve('src/plants/error-body.ts')}'
import type { Operations } from '${resolve('src/plants/operations.ts')}'

type Created = Answer<Operations, 'createPlant'>
export const createPlant: Handler<Operations, 'createPlant'> = ({ body }): Created => {
  if (body.id === 1n) return { status: 400, body: errorBody(400, 'one') }
  if (body.id === 2n) return { status: 409, body: { error: 409, message: 'two' } }
  if (body.id === 3n) return failed()
  return { status: 200, body: { name: body.name } }
}

type All = Handlers<Operations, keyof typeof contract.operations>
export const handlers: Pick<All, 'createPlant'> = { createPlant }

function failed (): Answer<Operations, 'createPlant'> {
  return { status: 503, headers: { 'Retry-After': 1 }, body: errorBody(503, 'three') }
}
`

const mistakes: Record<string, Mistake> = {
  'another number': [
    'error: 409',
    'error: 400',
    /Type '400' is not assignable to type '409'\.$/
  ],
  'another number for errorBody()': [
    'errorBody(400',
    'errorBody(401',
    /'ErrorBody<401>' is not assignable/
  ],
  'a number that is not known': [
    'errorBody(400',
    'errorBody(Number(body.id)',
    /'ErrorBody<number>' is not assignable/
  ],
  'an answer of the generated operations': [
    "failed (): Answer<Operations, 'createPlant'>",
    `failed (): Answer<import('${resolve('generated/types.ts')}').operations, 'createPlant'>`,
    /Type 'number' is not assignable to type '400'/,
    'return failed()'
  ]
}

t.test('the compiler reports an error body that contradicts its status', async t => {
  const programs = withMistakes(t, program, mistakes)
  const { messages } = await compilePrograms(t, undefined, programs)
  checkMistakes(t, program, mistakes, messages)
  for (const index of Object.keys(mistakes).keys()) t.equal(messages(`mistake-${index}`).length, 1)
})
