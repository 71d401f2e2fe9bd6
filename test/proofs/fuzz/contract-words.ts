// What mutated contracts are made of: names, values, and the keywords of JSON Schema and fields of
// OpenAPI.
import type { Random } from '../../fixtures/random.ts'

export const oddNames = [
  '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '', ' ', 'a b', 'a/b', '~', '~1', '%', '%2F',
  '#',
  '?', '{', '}', '{}', '{a}', '$', '$ref', 'x-a', '.', '..', '0', '-1', 'null', 'true', 'default', 'enum', 'ä', '🌱',
  '\u0000',
  '\n', '"', "'", '`', '$' + '{a}', '*/', '</script>', 'n'.repeat(3000), '\u2028', 'A', 'Id', 'Bed', 'Plant'
]

export const oddPaths = [
  '/', '//', '/a//b', '/a/', '/%2F', '/a%2fb', '/%20', '/a b', '/ä', '/🌱', '/a?b', '/a#b', '/a*', '/:a', '/a:b', '/{a}',
  '/{a}/{b}', '/{a}{b}', '/{a}.{b}', '/{a}-{a}', '/{', '/}', '/{}', '/a{b}c', '/../a', '/a/../b', '/./a', '/docs',
  '/docs/json', '/livez', '/metrics/x', '/(a)', '/a|b', '/[a]', '/%zz', '/%E4', '/__proto__', 'a', '', 'x-a', '/a;b=c',
  '/beds/{x}', '/beds/1', '/BEDS/{bed}', '/{a}/plants/{b}', `/${'p'.repeat(3000)}`, '/<a>', '/"', '/\\', '/a\nb',
  '/@{a}:b'
]

const schemas: unknown[] = [
  {}, true, false, { type: 'string' }, { type: 'integer', format: 'int64' }, { type: ['string', 'null'] }, { const: 1 },
  { type: 'object', properties: { a: { type: 'integer', format: 'int64' } } }, { type: 'array', items: {} },
  { not: {} },
  { $ref: '#/components/schemas/Id' }, { $ref: '#/components/schemas/Bed' }, { enum: [{ a: 1 }, [1], null] }
]

export const references = [
  '#', '#/', '#/components/schemas/Bed', '#/components/schemas/Id', '#/components/schemas/None',
  '#/components/schemas/',
  '#/components/schemas', '#/components/schemas/Bed/properties/id', '#/components/schemas/Bed/properties/none',
  '#/components/schemas/Named/$defs/Part', '#/components/responses/Problem', '#/components/requestBodies/Bed',
  '#/components/parameters/Unused', '#/paths/~1search', '#/paths/~1search/post', '#Bed', 'Bed', '', ' ', '#/%', '#/~2',
  '#/components/schemas/Plant/oneOf/0', '#/components/schemas/constructor', '#/constructor',
  '#/components/schemas/a~1b',
  './none.yaml', './contract.yaml', './contract.yaml#/components/schemas/Id', '.', '/', 'file:///none', '#/info',
  '#/info/title',
  '#/components/securitySchemes/user', '#/components/schemas/Problem/properties/part'
]

export const scalars: unknown[] = [
  null, true, false, 0, 1, -1, 0.5, -0, 1e300, 1e-300, 2 ** 31, 2 ** 53, 2 ** 63, -(2 ** 63), Infinity, '', ' ', 'a', '0',
  'null', '2020-01-01', 'int64', '\u0000', '🌱', '\ud800', [], {}, [null], [[]], [{}], { a: 1 }, ['a', 'a'], [1, 1],
  { __a: {} }, 'x'.repeat(3000)
]

const bounds = [0, 1, -1, 1.5, 2 ** 31, 2 ** 53, 2 ** 63, -(2 ** 63), 1e300, -1e300, 2 ** 64]
const types = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']
const formats = ['int32', 'int64', 'double', 'float', 'byte', 'binary', 'date', 'date-time', 'uuid', 'regex',
  'email', '__proto__', 'constructor', 'x']
const patterns = ['^a$', '', '[', '(', '\\', '\\p{L}', '\\-', '(?<a>x)', '(a+)+$', '^\\S+$', '\u0000', '\\/']

/** Right values of each keyword; any scalar may also take their place. */
export const keywords: Readonly<Record<string, readonly unknown[]>> = {
  $ref: references,
  $defs: [{}, { a: {} }, { a: { $ref: '#/components/schemas/Bed' } }],
  $id: ['a', 'https://a.example/b'],
  $schema: ['https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema#'],
  $anchor: ['a'],
  $dynamicAnchor: ['a'],
  $dynamicRef: ['#a', '#/components/schemas/Bed'],
  $vocabulary: [{}],
  $comment: ['a'],
  type: [...types, [], ['string', 'null'], ['integer', 'number'], types, ['string', 'string']],
  enum: [[], [1], [null], ['a', 'a'], [{ a: 1 }], [[1]], [1, 'a', null, true, {}], [2 ** 53]],
  const: [null, 1, 'a', {}, [1], 2 ** 53, { a: { b: [1] } }],
  multipleOf: [1, 0.01, 3, 1e300, 5e-324],
  maximum: bounds,
  exclusiveMaximum: bounds,
  minimum: bounds,
  exclusiveMinimum: bounds,
  maxLength: [0, 5, 1e300],
  minLength: [0, 5, 1e300],
  pattern: patterns,
  maxItems: [0, 5],
  minItems: [0, 1, 5],
  uniqueItems: [true, false],
  maxContains: [0, 1, 5],
  minContains: [0, 1, 5],
  maxProperties: [0, 5],
  minProperties: [0, 1, 5],
  required: [[], ['a'], ['id'], ['__proto__'], ['constructor'], ['a', 'a']],
  dependentRequired: [{}, { a: ['b'] }, { constructor: ['toString'] }],
  allOf: [[], [{}], schemas, [{ $ref: '#/components/schemas/Bed' }]],
  anyOf: [[], [{}], schemas],
  oneOf: [[], [{}], schemas],
  not: schemas,
  if: schemas,
  then: schemas,
  else: schemas,
  dependentSchemas: [{}, { a: {} }, { a: { $ref: '#/components/schemas/Bed' } }],
  prefixItems: [[], schemas, [{ type: 'integer', format: 'int64' }]],
  items: schemas,
  contains: schemas,
  properties: [{}, { a: {} }, { constructor: { type: 'string' } }, { a: { $ref: '#/components/schemas/Bed' } }],
  patternProperties: [{}, { '^a': {} }, { '[': {} }, { '': { $ref: '#/components/schemas/Id' } }],
  additionalProperties: schemas,
  propertyNames: schemas,
  unevaluatedItems: schemas,
  unevaluatedProperties: schemas,
  format: formats,
  contentEncoding: ['base64'],
  contentMediaType: ['application/json'],
  contentSchema: schemas,
  default: [null, 1, 'a', {}, [], 2 ** 53],
  readOnly: [true, false],
  writeOnly: [true, false],
  deprecated: [true],
  title: ['a', '*/'],
  description: ['a', '*/', '`', '\n'],
  examples: [[], [1], { a: { value: 1 } }],
  example: [1, null],
  discriminator: [
    { propertyName: 'kind' }, { propertyName: 'kind', mapping: {} }, { propertyName: 'kind', mapping: { a: 'Bed' } },
    { propertyName: '__proto__' }, { propertyName: 'kind', mapping: { a: 'None' } }, {}, { propertyName: 'constructor' }
  ],
  nullable: [true],
  xml: [{ name: 'a' }],
  externalDocs: [{ url: 'https://a.example' }],
  'x-a': [1],
  unknown: [1],
  id: ['a'],
  definitions: [{ a: {} }],
  dependencies: [{ a: ['b'] }],
  additionalItems: [false],
  $recursiveRef: ['#'],
  $recursiveAnchor: [true]
}

const response = { description: 'a' }
/** Fields of the objects of OpenAPI beside schemas. */
export const fields: Readonly<Record<string, readonly unknown[]>> = {
  openapi: ['3.1.0', '3.1.1', '3.0.3', '3.2.0', '4.0.0', 3.1, '2.0'],
  swagger: ['2.0'],
  jsonSchemaDialect: ['https://json-schema.org/draft/2020-12/schema', 'a'],
  servers: [
    [], [{}], [{ url: '' }], [{ url: '/' }], [{ url: '//a' }], [{ url: 'https://a.example/b/' }], [{ url: '/{a}' }],
    [{ url: '/a?b#c' }],
    [{ url: '/{a}', variables: { a: { default: '' } } }], [{
      url: '/{a}',
      variables: { a: { default: '../b?#{' } }
    }], [{ url: 'http://[' }],
    [{ url: '/%zz' }], [{ url: '/%2F' }], [{ url: '/docs' }], [{ url: '/*' }], [{ url: '/:a' }]
  ],
  security: [[], [{}], [{ user: [] }], [{ none: [] }], [{ user: ['a'] }, { key: [] }], [{ constructor: [] }]],
  operationId: ['search', 'constructor', '__proto__', '', 'a b', 'toString'],
  parameters: [
    [], [{ $ref: '#/components/parameters/Unused' }], [{ name: 'a', in: 'query' }], [{
      name: 'a',
      in: 'path',
      required: true,
      schema: {}
    }],
    [{ name: 'constructor', in: 'query', required: true, schema: { type: 'string' } }], [{
      name: 'a b',
      in: 'header',
      schema: {}
    }],
    [{ name: 'a', in: 'query', schema: {} }, { name: 'a', in: 'query', schema: {} }], [{
      name: '',
      in: 'cookie',
      schema: {}
    }]
  ],
  name: oddNames,
  in: ['query', 'path', 'header', 'cookie', 'querystring', 'body'],
  required: [true, false],
  style: ['form', 'simple', 'deepObject', 'label'],
  explode: [true, false],
  allowReserved: [true],
  allowEmptyValue: [true],
  schema: schemas,
  content: [
    { 'text/plain': {} }, { 'multipart/form-data': { schema: {} } },
    { 'text/event-stream': { schema: { type: 'string' } } }, { 'image/*': {} }, { a: {} },
    { 'application/json': {}, 'text/plain': {} }, {
      'application/x-www-form-urlencoded': {
        schema: {
          type: 'object',
          properties: { a: {} }
        }
      }
    },
    {}, { 'application/json': {} }, { 'application/json': { schema: {} } }, { '*/*': {} }],
  requestBody: [{}, { content: {} }, { content: { 'application/json': {} } },
    { $ref: '#/components/requestBodies/Bed' }],
  responses: [{}, { 200: response }, { default: response }, { '2XX': response, 200: response }, { 1: response },
    { '6XX': response }, { 204: response }, { 101: response }],
  headers: [{}, { 'X-A': { schema: {} } }, { 'content-type': { schema: {} } }, { 'a b': { schema: {} } },
    { constructor: { required: true, schema: { type: 'string' } } }, {
      'Set-Cookie': {
        schema: {
          type: 'array',
          items: {}
        }
      }
    }],
  links: [{ a: { operationId: 'search' } }],
  callbacks: [{ a: { '{$url}': { post: { responses: { 200: response } } } } }],
  encoding: [{}, { a: { contentType: 'text/plain' } }],
  itemSchema: [{}],
  tags: [['a']],
  deprecated: [true],
  variables: [{}],
  additionalOperations: [{ COPY: { responses: { 200: response } } }],
  webhooks: [{}],
  components: [{}],
  paths: [{}],
  info: [{}],
  description: ['a'],
  $self: ['a'],
  ...Object.fromEntries(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace',
    'query'].map(method => [method, [
    {}, { responses: { 200: response } }, {
      operationId: 'other',
      responses: {
        200: {
          ...response,
          content: { 'application/json': {} }
        }
      }
    },
    { requestBody: { content: { 'application/json': {} } }, responses: {} }
  ]]))
}

/** What only YAML can say, in place of a scalar. */
export const yamlValues = [
  '2020-01-01', '2020-01-01T00:00:00Z', '~', '', '.inf', '-.inf', '.nan', '0x1F', '0o17', '017', '1_000', '1:30',
  '!!binary aGk=', '!!set {a}',
  '!!str 1', '!unknown a', '&a [*a]', '*none', '<<', '{? a : b}', '{1: 2}', '{null: 1}', '{[a]: 1}', '{{a: 1}: 1}',
  '|\n  text', '>-\n  text', 'yes', '1e1000',
  '{a: 1, a: 2}', '{__proto__: {a: 1}}', '{<<: {a: 1}}', '9223372036854775807', '!!js/function a', '@', '`', '%',
  '\t', '"\\ud800"', '\u0085'
]

export function pickEntry <Value> (random: Random, record: Readonly<Record<string, readonly Value[]>>): [string,
  Value] {
  const name = random.pick(Object.keys(record))
  return [name, random.pick(record[name] as readonly Value[])]
}
