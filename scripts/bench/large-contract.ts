// The contract of `npm run bench:contract`: four operations on each of many resources, each with eight schemas of its
// own. They refer to each other as in large public contracts: deeply, through unions, and across resources.

/** An OpenAPI description with a multiple of four operations, and twice as many schemas. */
export function largeContract (operations: number): object {
  const names = Array.from({ length: operations / 4 }, (_, index) => `Thing${index}`)
  return {
    openapi: '3.1.0',
    info: { title: 'Large', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ bearerAuth: [] }],
    paths: Object.fromEntries(names.flatMap(name => [collection(name), item(name)])),
    components: {
      schemas: { Error: errorSchema, Owner: ownerSchema, ...Object.assign({}, ...names.map(schemasOf)) },
      securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } }
    }
  }
}

type PathItem = [path: string, operations: object]

function collection (name: string): PathItem {
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } }
  return [`/${name.toLowerCase()}`, {
    get: operation(`list${name}`, { parameters: [limit] }, reference(`${name}Page`)),
    post: operation(`create${name}`, { requestBody: body(`New${name}`) }, reference(name))
  }]
}

function item (name: string): PathItem {
  return [`/${name.toLowerCase()}/{id}`, {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } }],
    get: operation(`read${name}`, {}, reference(name)),
    put: operation(`change${name}`, { requestBody: body(`${name}Event`) }, reference(name))
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

/** Every tenth resource begins a chain of references. */
function schemasOf (name: string, index: number): Record<string, object> {
  const parent = index % 10 === 0 ? 'Owner' : `Thing${index - 1}`
  const members = {
    name: { type: 'string', minLength: 1, maxLength: 100 },
    tags: { type: 'array', items: { type: 'string' } },
    size: reference(`${name}Size`),
    status: reference(`${name}Status`),
    parent: reference(parent)
  }
  return {
    [name]: object({ id: int64, created: dateTime, ...members, last: reference(`${name}Event`) }, ['id', 'name']),
    [`New${name}`]: object(members, ['name']),
    [`${name}Page`]: object({ items: { type: 'array', items: reference(name) }, next: { type: 'string' } }, ['items']),
    [`${name}Size`]: object({ width: { type: 'number' }, height: { type: 'number' } }),
    [`${name}Status`]: { type: 'string', enum: ['new', 'used', 'sold', 'lost'] },
    [`${name}Event`]: {
      oneOf: [reference(`${name}Moved`), reference(`${name}Renamed`)],
      discriminator: { propertyName: 'kind' }
    },
    [`${name}Moved`]: object({ kind: { type: 'string' }, at: dateTime, by: reference('Owner') }, ['kind', 'at']),
    [`${name}Renamed`]: object({ kind: { type: 'string' }, at: dateTime, from: { type: 'string' } }, ['kind', 'from'])
  }
}

const int64 = { type: 'integer', format: 'int64' }
const dateTime = { type: 'string', format: 'date-time' }

function object (properties: object, required: string[] = []): object {
  return { type: 'object', properties, ...required.length > 0 && { required } }
}
