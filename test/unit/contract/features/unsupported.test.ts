import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { ContractError } from '../../../../src/contract/generate/files/findings.ts'
import { unsupported } from '../../../../src/contract/generate/lint/unsupported-features.ts'
import { ownPaths } from '../../../../src/service/service-paths.ts'
import {
  contractText, jsonContent, loadContract, noContent, parameter, ref, tableRows, type TestContract
} from '../../../fixtures/contract.ts'
import { getOperation } from '../../../fixtures/features.ts'

const readme = 'src/contract/FEATURES.md'

const refusedContracts: Record<keyof typeof unsupported, TestContract[]> = {
  version: ['4.0.0', '3.3.0', '3.1', '[]'].map(openapi => ({ ...getOperation(noContent), openapi })),
  positions: [
    ...['prefixEncoding: []', 'itemEncoding: {}'].map(media => {
      return withOpenApi32(getOperation(`responses: { '200': { description: fine, content: { application/json: { ${media} } } } }`))
    })
  ],
  defaultMapping: ['C', 'C%', 'A', './none.yaml'].map(target => {
    return withOpenApi32(withSchema(`{ discriminator: { propertyName: a, defaultMapping: ${target} }, oneOf: [${ref('B')}] }`))
  }),
  method: ['INVENTED', 'CONNECT', 'copy', 'POST', 'QUERY'].map(method => {
    return withOpenApi32({ paths: `  /a: { additionalOperations: { ${method}: { operationId: a, ${noContent} } } }` })
  }),
  querystring: [
    withOpenApi32(withParameter('in: querystring, schema: { type: string }')),
    withOpenApi32(getOperation(`parameters: [${querystring('x')}, ${querystring('y')}], ${noContent}`)),
    withOpenApi32({
      paths: `  /a: { parameters: [${parameter('x', 'query')}], get: { operationId: a, parameters: [${ref('Whole', 'parameters')}, ${ref('None', 'parameters')}], ${noContent} } }`,
      components: `  parameters: { Whole: ${querystring('whole')} }`
    })
  ],
  queryBody: [withOpenApi32({ paths: `  /a: { query: { operationId: a, ${noContent} } }` })],
  itemSchema: [
    withOpenApi32(getOperation("responses: { '200': { description: fine, content: { application/json: { itemSchema: {} } } } }")),
    withOpenApi32({
      paths: `  /a: { post: { operationId: a, requestBody: { content: { text/event-stream: { itemSchema: {} } } }, ${noContent} } }`
    })
  ],
  dialect: [
    {
      ...getOperation(noContent),
      root: 'security: []\njsonSchemaDialect: https://json-schema.org/draft-07/schema'
    },
    withSchema('{ $schema: https://json-schema.org/draft-07/schema, type: string }')
  ],
  anchor: [
    withSchema('{ $anchor: a, type: string }'),
    withSchema('{ $dynamicAnchor: a, type: string }')
  ],
  id: [
    withSchema('{ $id: a, type: string }'),
    withSchema(`{ $id: 'https://example.com/a', items: ${ref('B')} }`)
  ],
  schemaReference: [{
    ...getOperation(noContent),
    components: `
  schemas: { A: { $ref: '#/components/responses/R/content/application~1json' } }
  responses: { R: { description: r, ${jsonContent('{ type: string }')} } }`
  }],
  reference: [withSchema("{ properties: { $ref: '#/components/schemas/B' } }")],
  int64: [
    withSchema('{ format: int64 }'),
    withSchema('{ type: [integer, string], format: int64 }')
  ],
  loop: [
    withSchema(ref('A')),
    withSchema(`${ref('C')}, C: ${ref('A')}`),
    withSchema(`{ anyOf: [{ type: string }, ${ref('A')}] }`),
    withSchema(`{ oneOf: [${ref('C')}], discriminator: { propertyName: kind } }, C: { allOf: [${ref('A')}] }`)
  ],
  listLoop: [
    withSchema(`{ type: array, items: ${ref('A')} }`),
    withSchema(`{ type: array, prefixItems: [{ oneOf: [{ type: string }, ${ref('A')}] }] }`),
    withSchema(`{ properties: { x: { type: array, items: ${ref('A/properties/x')} } } }`),
    withSchema(`{ properties: { list: ${ref('C')} } }, C: { anyOf: [{ type: string }, { type: array, items: ${ref('C')} }] }`)
  ],
  proto: [
    getOperation(`parameters: [${parameter('__proto__', 'query')}], ${noContent}`),
    { paths: `  /a: { get: { operationId: __proto__, ${noContent} } }` },
    withSchema('{ type: object, properties: { __proto__: { type: string } } }'),
    withSchema('{ type: object, properties: { valueOf: { type: string } } }'),
    withSchema('{ type: string }, constructor: { type: string }')
  ],
  noSecurity: [{ ...getOperation(noContent), root: '' }],
  ownPath: [
    getOperation(noContent, '/docs'),
    getOperation(noContent, '/livez'),
    getOperation(noContent, '/readyz/x'),
    getOperation(noContent, '/%6Civez'),
    { ...getOperation(noContent, '/json'), root: 'security: []\nservers: [{ url: /docs }]' },
    { ...getOperation(noContent, '/livez'), root: 'security: []\nservers: [{ url: /api }]' }
  ],
  samePath: [{
    paths: `  /a/{x}: { get: { operationId: a, parameters: [${parameter('x', 'path')}], ${noContent} } }
  /a/{y}: { get: { operationId: b, parameters: [${parameter('y', 'path')}], ${noContent} } }`
  }],
  path: [
    getOperation(noContent, '/a*'),
    getOperation(noContent, '/a/{b'),
    getOperation(noContent, '/a%zz'),
    getOperation(noContent, '/a/../b'),
    getOperation(noContent, '/%2E/b'),
    getOperation(noContent, '/a%2Fb'),
    getOperation(noContent, '/a\\b'),
    getOperation(noContent, '"/a\\nb"'),
    getOperation(`parameters: [${parameter('x', 'path')}], ${noContent}`, "'/{x}/{x}'")
  ],
  fragment: [{
    paths: `  /a: { get: { operationId: a, ${noContent} } }
  /a#b: { servers: [{ url: /v2 }], get: { operationId: b, ${noContent} } }`
  }],
  adjacent: [
    getOperation(`parameters: [${parameter('x', 'path')}, ${parameter('y', 'path')}], ${noContent}`, "'/{x}{y}'")
  ],
  parameterContent: [
    {
      ...withOpenApi32(withParameter(`in: query, content: { text/csv: ${ref('A', 'mediaTypes')} }`)),
      components: '  mediaTypes: { A: { schema: { type: object } } }'
    },
    withOpenApi32(withParameter(`in: querystring, ${jsonContent('{ type: object }', 'application/xml')}`)),
    withParameter(`in: query, ${jsonContent('{ type: object }', 'application/xml')}`),
    withResponseHeader(`{ ${jsonContent('{ type: array }', 'text/csv')} }`)
  ],
  style: [
    withParameter('in: header, style: form, schema: { type: string }'),
    withParameter('in: query, style: deepObject, explode: false, schema: { type: object }'),
    withParameter('in: query, style: pipeDelimited, schema: { type: string }'),
    withParameter('in: query, style: pipeDelimited, explode: true, schema: { type: array }'),
    withParameter('in: query, style: spaceDelimited, explode: true, schema: { type: object }'),
    withParameter('in: query, style: spaceDelimited, explode: true, schema: true')
  ],
  nestedParameter: [
    withParameter('in: query, schema: { type: array, items: { type: object } }'),
    withParameter('in: query, schema: { properties: { a: { anyOf: [{ type: string }, { type: object }] } } }'),
    withParameter('in: query, explode: false, schema: { properties: { a: { type: array } } }'),
    withResponseHeader('{ schema: { type: array, items: { type: array } } }'),
    withResponseHeader('{ schema: { anyOf: [{ type: string }, { additionalProperties: { type: array } }] } }')
  ],
  headerName: [
    getOperation(`parameters: [${parameter("'a b'", 'header')}], ${noContent}`),
    getOperation(`parameters: [${parameter("'a;b'", 'cookie')}], ${noContent}`),
    getOperation("responses: { '204': { description: fine, headers: { '': { schema: {} } } } }"),
    { ...getOperation(noContent), components: "  securitySchemes: { k: { type: apiKey, in: header, name: 'ä' } }" }
  ],
  mediaType: [
    getOperation(`responses: { '200': { description: fine, ${jsonContent('{}', "'text/ä'")} } }`),
    getOperation(`responses: { '200': { description: fine, ${jsonContent('{}', "''")} } }`),
    getOperation(`responses: { '200': { description: fine, ${jsonContent('{}', 'json')} } }`)
  ],
  status: [
    getOperation("responses: { '102': { description: early } }"),
    getOperation('responses: { 1XX: { description: early } }')
  ],
  securityScheme: [
    { ...getOperation(noContent), components: '  securitySchemes: { d: { type: http, scheme: digest } }' },
    { ...getOperation(noContent), components: '  securitySchemes: { m: { type: mutualTLS } }' }
  ]
}

t.test('not supported', async t => {
  const rows = tableRows(readme, 'Not supported').map(([feature]) => feature)
  const option = ', if the option `ownPaths` of the generator names them'
  t.strictSame(rows, Object.values({ ...unsupported, ownPath: unsupported.ownPath + option }))
  const features = { ...unsupported, ownPath: `${unsupported.ownPath} (${ownPaths.join(', ')})` }
  for (const [key, contracts] of Object.entries(refusedContracts)) {
    const feature = features[key as keyof typeof unsupported]
    await t.test(feature, async t => {
      const finding = new RegExp(`other\\.yaml:\\d+:\\d+ #/.* Not supported: ${RegExp.escape(feature)}( \\(.*\\))?(: [^.]+[\\d.]*)?\\.`)
      for (const contract of contracts) {
        const file = join(t.testdir(), 'other.yaml')
        writeFileSync(file, contractText(contract))
        const loaded = loadContract(file).then(() => t.fail(readFileSync(file, 'utf8')), error => error)
        const { findings } = await loaded as ContractError
        t.ok(findings.some(text => finding.test(text)), findings.join('\n'))
      }
    })
  }
})

t.test('paths that differ in names only are both named', async t => {
  const file = join(t.testdir(), 'other.yaml')
  writeFileSync(file, contractText(refusedContracts.samePath[0] as TestContract))
  await t.rejects(loadContract(file), / in the names of parameters \(\/a\/\{x\} and \/a\/\{y\}\)\.$/)
})

function querystring (name: string): string {
  return `{ name: ${name}, in: querystring, ${jsonContent('{}')} }`
}

function withOpenApi32 (contract: TestContract): TestContract {
  return { ...contract, openapi: '3.2.0' }
}

/** A contract with the component schema A. */
function withSchema (schema: string): TestContract {
  const components = `  schemas: { A: ${schema}, B: { type: string, $defs: { x: { type: string } } } }`
  return { ...getOperation(noContent), components }
}

/** A contract with a parameter that has these members. */
function withParameter (members: string): TestContract {
  return getOperation(`parameters: [{ name: x, ${members} }], ${noContent}`)
}

/** A contract with this header field of a response. */
function withResponseHeader (header: string): TestContract {
  return getOperation(`responses: { '204': { description: fine, headers: { X-A: ${header} } } }`)
}
