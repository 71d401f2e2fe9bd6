// The generated files of the examples match their contracts.
import t from 'tap'
import { generate } from '../../../../src/contract/generate/index.ts'

/** The flags of the command, and the options that they stand for. */
const examples = {
  files: [' --int64 number', { int64: 'number' }],
  microblog: ['', {}],
  petstore: [' --allow-open', { allowOpen: true }]
} as const

for (const [name, [flags, options]] of Object.entries(examples)) {
  t.test(`the generated files of ${name} match its contract`, async t => {
    const errors: string[] = []
    t.capture(console, 'log')
    t.capture(console, 'warn')
    t.capture(console, 'error', (line: string) => { errors.push(line) })
    const folder = `src/contract/examples/${name}`
    const contract = `${folder}/openapi.yaml`
    const command = `npx fastify-openapi-contract generate${flags}`
    await generate({ ...options, contract, out: `${folder}/generated`, command, check: true })
    t.strictSame(errors, [])
  })
}
