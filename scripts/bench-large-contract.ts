// The contract of `npm run bench:contract`: four operations on each of many resources, each with a schema of its own.

/** An OpenAPI description with a multiple of four operations. */
export function largeContract (operations: number): object {
  const names = Array.from({ length: operations / 4 }, (_, index) => `Thing${index}`)
  const things = Object.fromEntries(names.map(name => [name, thingSchema()]))
  return {
    openapi: '3.1.0',
    info: { title: 'Large', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ bearerAuth: [] }],
    paths: Object.fromEntries(names.flatMap(name => [collection(name), item(name)])),
    components: {
      schemas: { Error: errorSchema, Owner: ownerSchema, ...things },
      securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } }
    }
  }
}

type PathItem = [path: string, operations: object]

function collection (name: string): PathItem {
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } }
  return [`/${name.toLowerCase()}`, {
    get: operation(`list${name}`, { parameters: [limit] }, { type: 'array', items: reference(name) }),
    post: operation(`create${name}`, { requestBody: body(name) }, reference(name))
  }]
}

function item (name: string): PathItem {
  return [`/${name.toLowerCase()}/{id}`, {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } }],
    get: operation(`read${name}`, {}, reference(name)),
    put: operation(`change${name}`, { requestBody: body(name) }, reference(name))
  }]
}

function operation (operationId: string, request: object, answer: object): object {
  const error = { description: 'wrong', content: json(reference('Error')) }
  const fine = { description: 'fine', content: json(answer) }
  const responses = { 200: fine, 400: error, 401: error, 404: error, 500: error }
  return { operationId, summary: operationId, ...request, responses }
}

const body = (name: string) => ({ required: true, content: json(reference(name)) })
const json = (schema: object) => ({ 'application/json': { schema } })
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const errorSchema = {
  type: 'object',
  required: ['error', 'message'],
  properties: { error: { type: 'integer', format: 'int32' }, message: { type: 'string' } }
}
const ownerSchema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }

function thingSchema (): object {
  return {
    type: 'object',
    required: ['id', 'name'],
    properties: {
      id: { type: 'integer', format: 'int64' },
      name: { type: 'string', minLength: 1, maxLength: 100 },
      created: { type: 'string', format: 'date-time' },
      tags: { type: 'array', items: { type: 'string' } },
      size: { type: 'object', properties: { width: { type: 'number' }, height: { type: 'number' } } },
      owner: reference('Owner')
    }
  }
}
