// Parameters end to end: the specification's table of styles, random values, and what is refused.
import t, { type Test } from 'tap'
import { anyResponse, parameter, ref, serve, type Untyped } from '../../../fixtures/contract.ts'
import { measureCost } from '../../../fixtures/cost.ts'
import { seededRandom } from '../../../fixtures/random.ts'

const responses = "responses: { '200': { description: fine } }"

/**
 * Serves an operation for each place and Parameter Object.
 * Returns a function that sends a text; it returns what the handler gets, or the error's message.
 */
async function serveParameters (t: Test, parameters: Array<[string, string]>, prefix = '') {
  const seen: Untyped[] = []
  const paths = parameters.map(([place, yaml], index) => {
    const url = place === 'path' ? `/${index}/${prefix}{color}` : `/${index}`
    return `  ${url}: { get: { operationId: read${index}, parameters: [${yaml}], ${responses} } }`
  })
  const handlers = parameters.map((_parameter, index) => [
    `read${index}`,
    (request: Untyped) => {
      seen.push(request)
      return { status: 200 }
    }
  ])
  const { app } = await serve(t, {
    paths: paths.join('\n'),
    handlers: Object.fromEntries(handlers)
  })
  return async (index: number, text: string) => {
    const place = parameters[index]?.[0] as string
    const url =
      { path: `/${index}/${prefix}${text}`, query: `/${index}?${text}` }[place] ?? `/${index}`
    const headers = {
      ...(place === 'header' && { color: text }),
      ...(place === 'cookie' && { cookie: text })
    }
    const { statusCode, body } = await app.inject({ url, headers })
    return statusCode === 200
      ? seen.pop()?.[place]?.color
      : `${statusCode} ${JSON.parse(body).message}`
  }
}

const forms = {
  string: '{ type: string }',
  array: '{ type: array, items: { type: string } }',
  object:
    '{ type: object, properties: ' +
    '{ R: { type: integer }, G: { type: integer }, B: { type: integer } } }'
}
const values = {
  string: 'blue',
  array: ['blue', 'black', 'brown'],
  object: { R: 100, G: 200, B: 150 }
}

/** OpenAPI 3.1.1, section 4.8.12.4. The examples of an empty value stand for the empty string. */
const table: Array<
  [style: string, place: string, explode: boolean, texts: Record<string, string>]
> = [
  [
    'matrix',
    'path',
    false,
    {
      empty: ';color',
      string: ';color=blue',
      array: ';color=blue,black,brown',
      object: ';color=R,100,G,200,B,150'
    }
  ],
  [
    'matrix',
    'path',
    true,
    {
      empty: ';color',
      string: ';color=blue',
      array: ';color=blue;color=black;color=brown',
      object: ';R=100;G=200;B=150'
    }
  ],
  [
    'label',
    'path',
    false,
    {
      empty: '.',
      string: '.blue',
      array: '.blue,black,brown',
      object: '.R,100,G,200,B,150'
    }
  ],
  [
    'label',
    'path',
    true,
    { empty: '.', string: '.blue', array: '.blue.black.brown', object: '.R=100.G=200.B=150' }
  ],
  [
    'simple',
    'path',
    false,
    { string: 'blue', array: 'blue,black,brown', object: 'R,100,G,200,B,150' }
  ],
  [
    'simple',
    'path',
    true,
    { string: 'blue', array: 'blue,black,brown', object: 'R=100,G=200,B=150' }
  ],
  [
    'simple',
    'header',
    false,
    { empty: '', string: 'blue', array: 'blue,black,brown', object: 'R,100,G,200,B,150' }
  ],
  [
    'simple',
    'header',
    true,
    { empty: '', string: 'blue', array: 'blue,black,brown', object: 'R=100,G=200,B=150' }
  ],
  ...['query', 'cookie'].flatMap((place): typeof table => [
    [
      'form',
      place,
      false,
      {
        empty: 'color=',
        string: 'color=blue',
        array: 'color=blue,black,brown',
        object: 'color=R,100,G,200,B,150'
      }
    ],
    [
      'form',
      place,
      true,
      {
        empty: 'color=',
        string: 'color=blue',
        array: 'color=blue&color=black&color=brown',
        object: 'R=100&G=200&B=150'
      }
    ]
  ]),
  [
    'spaceDelimited',
    'query',
    false,
    {
      array: 'color=blue%20black%20brown',
      object: 'color=R%20100%20G%20200%20B%20150'
    }
  ],
  [
    'pipeDelimited',
    'query',
    false,
    {
      array: 'color=blue%7Cblack%7Cbrown',
      object: 'color=R%7C100%7CG%7C200%7CB%7C150'
    }
  ],
  ['deepObject', 'query', true, { object: 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150' }]
]

t.test('each style, explode and form of value is read as the specification tables it', async t => {
  const cases = table.flatMap(([style, place, explode, texts]) =>
    Object.entries(texts).map(([form, text]) => {
      const kind = form === 'empty' ? 'string' : (form as keyof typeof values)
      const isDefault = explode === (style === 'form')
      const yaml = (more: string) =>
        parameter('color', place, forms[kind], `, style: ${style}${more}`)
      const expected = form === 'empty' ? '' : values[kind]
      return {
        place,
        text,
        expected,
        explicit: yaml(`, explode: ${explode}`),
        short: isDefault ? yaml('') : undefined
      }
    })
  )
  // Clients remove a segment of one dot, which is an empty label.
  const read = await serveParameters(
    t,
    cases.map(({ place, explicit }) => [place, explicit]),
    'c'
  )
  for (const [index, { text, expected }] of cases.entries()) {
    t.strictSame(await read(index, text), expected, text)
  }
  const shorts = cases.filter(({ short }) => short !== undefined)
  const readShort = await serveParameters(
    t,
    shorts.map(({ place, short }) => [place, short as string]),
    'c'
  )
  for (const [index, { text, expected }] of shorts.entries()) {
    t.strictSame(await readShort(index, text), expected, `${text} without explode`)
  }
})

const seed = process.env.SEED ?? String(Date.now())
const random = seededRandom(seed)

/** The members of the random object: two are declared, the others are strings. */
const anyObject = `{
  properties: { id: { type: integer, format: int64 }, on: { type: [boolean, 'null'] } },
  additionalProperties: { type: string }
}`.replace(/\s+/g, ' ')
const anyList = '{ type: array, items: { type: integer, format: int64 } }'
const anyText = '{ anyOf: [{ type: boolean }, { type: string }] }'

/** Characters that this style cannot hold, because they delimit even when they are encoded. */
function charactersFor (style: string, place: string): string[] {
  const all = [...'ab 0,;=&|[]%+#?/\\"\'é€😀']
  const excluded: Record<string, string> = {
    spaceDelimited: ' ',
    pipeDelimited: '|',
    deepObject: '[]'
  }
  // The texts of header fields are not encoded.
  return all.filter(one =>
    place === 'header' ? /[ab0|[\]]/.test(one) : !excluded[style]?.includes(one)
  )
}

const edges = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n]

function randomText (characters: string[]): string {
  // A path segment and the name of a member need a character.
  return Array.from({ length: 1 + random.below(6) }, () => random.pick(characters)).join('')
}

function randomValue (form: string, characters: string[]): unknown {
  if (form === 'object') return randomObject(characters)
  if (form === 'array') return Array.from({ length: 1 + random.below(4) }, () => random.pick(edges))
  return random.pick([randomText(characters), true, false])
}

function randomObject (characters: string[]): Array<[string, unknown]> {
  // V8 14.6 may read another name of one character as a backslash, once it has read one.
  const ofNames = characters.filter(one => one !== '\\')
  const names = ['valueOf', 'constructor', 'toString', randomText(ofNames)]
  const some = names.filter(() => random.below(2) === 0)
  const others = some.map((name): [string, unknown] => [name, randomText(characters)])
  return [['id', random.pick(edges)], ['on', random.below(2) === 0], ...new Map(others)]
}

/** Writes a value as the specification tables it; members are pairs. */
function write (style: string, place: string, explode: boolean, value: unknown): string {
  const encode = (text: unknown) =>
    place === 'header' ? String(text) : encodeURIComponent(String(text))
  const isList = Array.isArray(value)
  const isObject = isList && Array.isArray(value[0])
  const flat = [value].flat(2).map(encode)
  const pairs = isObject
    ? value.map(pair => pair.map(encode).join('='))
    : flat.map(text => `color=${text}`)
  const joined = flat.join({ spaceDelimited: '%20', pipeDelimited: '%7C' }[style] ?? ',')
  const delimiter: Record<string, string> = { form: '&', label: '.', matrix: ';', simple: ',' }
  if (style === 'deepObject') {
    return (value as unknown[][])
      .map(([name, text]) => `color%5B${encode(name)}%5D=${encode(text)}`)
      .join('&')
  }
  const ofNames = explode && (isObject || style === 'matrix' || style === 'form')
  const parts = ofNames ? pairs : explode && isList ? flat : [joined]
  const text = parts.join(delimiter[style])
  const needsName =
    ['form', 'matrix', 'spaceDelimited', 'pipeDelimited'].includes(style) && !ofNames
  const prefix: Record<string, string> = { label: '.', matrix: ';' }
  return `${prefix[style] ?? ''}${needsName ? 'color=' : ''}${text}`
}

t.test(`what the specification's table writes is read again (SEED=${seed})`, async t => {
  const cases = table.flatMap(([style, place, explode, texts]) =>
    Object.keys(texts).flatMap(form => {
      const schema = { string: anyText, array: anyList, object: anyObject }[form]
      const yaml = parameter('color', place, schema, `, style: ${style}, explode: ${explode}`)
      return schema === undefined ? [] : [{ style, place, explode, form, yaml }]
    })
  )
  const read = await serveParameters(
    t,
    cases.map(({ place, yaml }) => [place, yaml])
  )
  for (const [index, { style, place, explode, form }] of cases.entries()) {
    for (let round = 0; round < 20; round++) {
      const characters = charactersFor(style, place)
      const value = randomValue(form, characters)
      const text = write(style, place, explode, value)
      const received = await read(index, text)
      const expected =
        form === 'object' ? sorted(value as Array<[string, unknown]>) : trimmed(value, place)
      const actual =
        form === 'object' && typeof received === 'object'
          ? sorted(Object.entries(received))
          : received
      if (!t.strictSame(actual, expected, `${style} ${place} ${explode} ${text}`)) return
    }
  }
})

const object =
  '{ type: object, properties: ' +
  '{ R: { type: integer }, G: { type: array, items: { type: string } } } }'
const pair = '{ type: object, properties: { R: { type: integer } }, additionalProperties: false }'
const deep = `{
  properties: { R: { type: integer }, G: { properties: { x: { type: string } } } },
  patternProperties: { '^n': { type: integer } }
}`.replace(/\s+/g, ' ')

const texts = '{ type: array, items: { type: string } }'
const range = '{ anyOf: [{ type: integer }, { properties: { gt: { type: integer } } }] }'
const lines = '{ type: array, items: { properties: { id: { type: string } } } }'

t.test(
  'a parameter that is repeated or not in its style is refused, by its name and that of its member',
  async t => {
    const deepObject = ', style: deepObject'
    const matrix = ', style: matrix, explode: true'
    const asMember = must('query parameter', 'be sent as color[member]=value')
    const afterName = must('path parameter', 'begin with ";color="')
    const cases: Array<
      [place: string, schema: string, more: string, text: string, message: string]
    > = [
      ['query', object, '', 'R=1&R=2', at('R', 'is sent more than once')],
      ['query', object, '', 'R=x', at('R', 'must be an integer')],
      [
        'query',
        pair,
        ', explode: false',
        'color=R',
        must('query parameter', 'have a name and a value for each member')
      ],
      [
        'query',
        pair,
        ', explode: false',
        'color=R,1&color=R,2',
        'The query parameter "color" is sent more than once.'
      ],
      ['query', pair, ', explode: false', 'color=R,1,R,2', at('R', 'is sent more than once')],
      [
        'query',
        pair,
        ', explode: false',
        'color=X,1',
        must('query parameter', 'not have the member "X"')
      ],
      [
        'query',
        pair,
        `${deepObject}, required: true`,
        'R=1',
        'The query parameter "color" is missing.'
      ],
      ['query', pair, deepObject, 'color=1', asMember],
      ['query', pair, deepObject, 'color[R=1', asMember],
      ['query', texts, deepObject, 'color[=1', asMember],
      [
        'query',
        range,
        deepObject,
        'color=1&color[gt]=1',
        'The query parameter "color" is sent with and without members.'
      ],
      [
        'query',
        range,
        deepObject,
        'color=1&color=2',
        'The query parameter "color" is sent more than once.'
      ],
      [
        'query',
        deep,
        deepObject,
        `color${'[a]'.repeat(6)}=1`,
        'The query parameter "color" nests more than 5 objects.'
      ],
      ['query', deep, deepObject, 'color[R][x]=1', at('R', 'must not have members')],
      [
        'query',
        deep,
        deepObject,
        'color[G][x]=1&color[G]=2',
        at('G', 'is sent with and without members')
      ],
      [
        'query',
        deep,
        deepObject,
        'color[G][x]=1&color[G][x]=2',
        at('G/x', 'is sent more than once')
      ],
      ['query', deep, deepObject, 'color[n1]=x', at('n1', 'must be an integer')],
      ['path', forms.array, ', style: matrix', ';other=1', afterName],
      ['path', forms.array, ', style: matrix', 'blue', afterName],
      ['path', forms.array, matrix, ';color=1;x=2', afterName],
      ['path', forms.string, matrix, ';x=2', afterName],
      ['path', '{ properties: { R: { type: string } } }', matrix, 'R=1', must('path parameter', 'begin with ";"')],
      [
        'path',
        forms.string,
        matrix,
        ';color=1;color=2',
        'The path parameter "color" is sent more than once.'
      ],
      ['path', forms.string, ', style: label', 'blue', must('path parameter', 'begin with "."')],
      [
        'header',
        pair,
        ', explode: true',
        'R',
        must('header field', 'have a name and a value for each member')
      ],
      ['cookie', forms.array, '', 'color=1&x=2', 'The cookie "color" must be sent as color=value.']
    ]
    const read = await serveParameters(t, cases.map(toDeclared))
    for (const [index, [, , , text, message]] of cases.entries()) {
      t.equal(await read(index, text), `400 ${message}`, text)
    }
  }
)

function toDeclared ([place, schema, more]: [string, string, string, ...unknown[]]): [
  string,
  string
] {
  return [place, parameter('color', place, schema, more)]
}

function at (member: string, problem: string): string {
  return `The query parameter "color" at ${member} ${problem}.`
}

function must (what: string, rule: string): string {
  return `The ${what} "color" must ${rule}.`
}

t.test('an object takes the texts that its schema asks for', async t => {
  const text = '{ type: string }'
  const cases: Array<[place: string, schema: string, more: string, text: string, value: unknown]> =
    [
      ['query', object, '', 'R=1&G=a&other=2', { R: 1, G: ['a'] }],
      ['query', object, '', 'other=2', undefined],
      ['query', object, ', required: true', '', {}],
      ['query', '{ type: object }', '', 'x=1&y=2', { x: '1', y: '2' }],
      ['query', '{ type: object, additionalProperties: false }', '', 'x=1', undefined],
      ['query', `{ oneOf: [${object}, ${text}] }`, '', 'color=blue', 'blue'],
      ['query', `{ oneOf: [${pair}, ${text}] }`, ', explode: false', 'color=blue', 'blue'],
      ['query', `{ anyOf: [${text}, ${forms.array}] }`, '', 'color=blue', ['blue']],
      [
        'query',
        '{ additionalProperties: { anyOf: [{ type: integer, maximum: 9 }, { type: string }] } }',
        ', explode: false',
        'color=a,10',
        { a: '10' }
      ],
      ['query', '{ enum: [a, null] }', '', 'color=a', 'a'],
      ['query', '{ type: integer }', ', allowEmptyValue: true', 'color=', undefined],
      ['query', '{ type: string }', ', allowEmptyValue: true, required: true', 'color=', ''],
      ['path', '{ type: object }', ', style: matrix, explode: true', ';R;G=a', { R: '', G: 'a' }],
      ['query', '{ const: 5 }', '', 'color=5', 5],
      ['query', pair, ', explode: false', 'color=', {}],
      [
        'query',
        '{ allOf: [{ properties: { a: { type: integer } } }, ' +
          '{ properties: { a: { maximum: 9 } } }] }',
        '',
        'a=1',
        { a: 1 }
      ],
      [
        'query',
        '{ additionalProperties: ' +
          '{ anyOf: [{ type: string }, { type: array, items: { type: string } }] } }',
        ', style: deepObject',
        'color[a]=1&color[b]=1&color[b]=2&color[c][]=1',
        { a: '1', b: ['1', '2'], c: ['1'] }
      ],
      ['query', texts, ', style: deepObject', 'color[]=a&color[]=b', ['a', 'b']],
      ['query', texts, ', style: deepObject', 'color[1]=b&color[0]=a', ['a', 'b']],
      ['query', texts, ', style: deepObject', 'color=a', ['a']],
      ['query', texts, ', style: deepObject', 'color=a&color=b', ['a', 'b']],
      ['query', range, ', style: deepObject', 'color=7', 7],
      ['query', range, ', style: deepObject', 'color[gt]=7', { gt: 7 }],
      [
        'query',
        lines,
        ', style: deepObject',
        'color[0][id]=x&color[1][id]=y',
        [{ id: 'x' }, { id: 'y' }]
      ],
      [
        'query',
        deep,
        ', style: deepObject',
        'color[R]=1&color[n1]=2&color[x]=3',
        { R: 1, n1: 2, x: '3' }
      ],
      ['cookie', object, '', 'R=1; G=a; G=b&G=c', { R: 1, G: ['a', 'b', 'c'] }],
      [
        'header',
        '{ properties: { R: { type: integer }, G: { type: string } } }',
        '',
        'R, 100, G, a',
        { R: 100, G: 'a' }
      ]
    ]
  const read = await serveParameters(t, cases.map(toDeclared))
  for (const [index, [, , , text, value]] of cases.entries()) {
    const received = await read(index, text)
    t.strictSame(received, value, `${text} of ${cases[index]?.[1]}`)
  }
})

t.test('an object does not take the names of other parameters or of API keys', async t => {
  const { app } = await serve(t, {
    paths: `
  /a:
    get:
      operationId: read
      security: [{ key: [] }]
      parameters:
        - ${parameter('rest', 'query', '{ type: object }')}
        - ${parameter('one', 'query')}
        - ${parameter('some', 'query', `{ anyOf: [${ref('Two')}, ${ref('Two')}] }`)}
        - ${parameter('deep', 'query', '{ type: object }', ', style: deepObject')}
      responses: { '200': { description: fine, content: { application/json: { schema: {} } } } }`,
    components: `
  securitySchemes: { key: { type: apiKey, in: query, name: key } }
  schemas: { Two: { properties: { two: {} } } }`,
    verifiers: { key: (key: string) => ({ name: key }) }
  })
  const { query } = (await app.inject('/a?key=secret&one=1&two=2&deep[x]=3&left=4&[y]=5&')).json()
  t.strictSame(query, {
    rest: { left: '4', '[y]': '5' },
    one: '1',
    some: { two: '2' },
    deep: { x: '3' }
  })
})

t.test('a parameter with content is read by its media type', async t => {
  const content = (type: string, schema: string) => `content: { ${type}: ${schema} }`
  const declared = (name: string, place: string, value: string) =>
    `{ name: ${name}, in: ${place}, ${value} }`
  const id = '{ type: integer, format: int64 }'
  const filter = `{ schema: { type: object, properties: { id: ${id} }, default: { id: 1 } } }`
  const list = '{ schema: { type: array } }'
  const rest = '{ type: object, unevaluatedProperties: { type: integer } }'
  const { app } = await serve(t, {
    paths: `
  /a:
    get:
      operationId: read
      parameters:
        - ${declared('filter', 'query', content('application/json', filter))}
        - ${declared('any', 'query', content('application/vnd.x+json; v=1', '{}'))}
        - ${declared('plain', 'query', content('text/plain', '{}'))}
        - ${parameter('rest', 'query', rest)}
        - ${declared('X-Json', 'header', content('application/json', list))}
      responses: { '200': { description: fine, content: { application/json: { schema: {} } } } }`
  })
  const get = async (url: string, headers = {}) => (await app.inject({ url, headers })).body
  const url = `/a?filter=${encodeURIComponent('{"id":9007199254740993}')}&any=[1]&plain=a,b&other=1`
  const query = '{"filter":{"id":9007199254740993},"any":[1],"plain":"a,b","rest":{"other":1}}'
  t.equal(await get(url, { 'x-json': '[1,"a"]' }), `{"query":${query},"header":{"X-Json":[1,"a"]}}`)
  t.equal(await get('/a'), '{"query":{"filter":{"id":1}},"header":{}}')
  t.match(await get('/a?filter=1&filter=2'), /query parameter ."filter." is sent more than once/)
  t.match(await get('/a?filter=x'), /query parameter ."filter." is not valid JSON/)
  t.match(await get('/a?filter=[]'), /query parameter ."filter." must be an object/)
})

t.test('a header field of an answer may be an object or JSON', async t => {
  const named =
    '{ type: object, properties: { R: { type: integer, format: int64 }, G: { type: string } } }'
  const { app } = await serve(t, {
    paths: `
  /a:
    get:
      operationId: read
      responses:
        '200':
          description: fine
          headers:
            X-Plain: { schema: ${named} }
            X-Exploded: { schema: ${named}, explode: true }
            X-Json: { content: { application/json: { schema: ${named} } } }
            X-Text: { content: { text/plain: { schema: { type: string } } } }
            X-List: { content: { application/json: { schema: { type: array } } } }`,
    handlers: {
      read: () => {
        const value = { R: 9007199254740993n, G: 'grün', undeclared: 1 }
        const others = { 'X-Json': value, 'X-Text': 'a', 'X-List': ['日本'] }
        return { status: 200, headers: { 'X-Plain': value, 'X-Exploded': value, ...others } }
      }
    }
  })
  t.match((await app.inject('/a')).headers, {
    'x-plain': 'R,9007199254740993,G,grün',
    'x-exploded': 'R=9007199254740993,G=grün',
    'x-json': '{"R":9007199254740993,"G":"gr\\u00fcn"}',
    'x-text': 'a',
    'x-list': '["\\u65e5\\u672c"]'
  })
})

t.test('16 KiB of delimiters, brackets or spaces cost no more than some other texts', async t => {
  const any = '{ type: object }'
  const long: Array<[place: string, schema: string, more: string, text: string]> = [
    ['query', any, ', style: deepObject', 'color[a]=&'.repeat(1600)],
    [
      'query',
      any,
      ', style: deepObject',
      Array.from({ length: 1200 }, (_, index) => `color[${index}]=`).join('&')
    ],
    ['query', any, ', style: deepObject', `color${'[a]'.repeat(5000)}=1`],
    ['query', any, ', style: deepObject', 'color['.repeat(2500)],
    ['query', any, '', Array.from({ length: 2000 }, (_, index) => `a${index}=`).join('&')],
    ['query', any, ', explode: false', `color=${','.repeat(16_000)}`],
    ['query', forms.array, ', explode: false', `color=${','.repeat(16_000)}`],
    ['query', forms.array, ', style: pipeDelimited', `color=${'%7C'.repeat(5000)}`],
    ['path', forms.array, ', style: matrix, explode: true', ';color='.repeat(2000)],
    ['cookie', forms.array, '', `color=${'&color='.repeat(2000)}`],
    ['cookie', any, '', `a=${' '.repeat(16_000)}x`]
  ]
  const read = await serveParameters(t, long.map(toDeclared))
  const one = await measureCost(() => read(0, `color[a]=${'x'.repeat(16_000)}`))
  for (const [index, [, , more, text]] of long.entries()) {
    const many = await measureCost(() => read(index, text)) / one
    t.ok(many < 60, `${many.toFixed(1)} times the cost of one value: ${text.slice(0, 20)}... ${more}`)
  }
})

function sorted (pairs: Array<[string, unknown]>) {
  return pairs.sort(([a], [b]) => (a < b ? -1 : 1))
}

function trimmed (value: unknown, place: string): unknown {
  return place === 'header' && typeof value === 'string' ? value.trim() : value
}

t.test('what follows # in a request target is not read', async t => {
  const read = await serveParameters(t, [
    ['query', '{ name: color, in: query, schema: { type: string } }']
  ])
  t.equal(await read(0, 'color=red#x?color=blue&color=green'), 'red')
  t.equal(await read(0, '#?color=blue'), undefined)
})

t.test('all faults of parameters are reported at once', async t => {
  const parameters = [
    parameter('color', 'query', '{ enum: [red, blue] }', ', required: true'),
    parameter('limit', 'query', '{ type: integer, maximum: 9 }'),
    parameter('type', 'path'),
    parameter('X-Trace', 'header', '{ type: string }', ', required: true'),
    parameter('name', 'path', '{ type: integer }')
  ]
  const { app } = await serve(t, {
    paths: `  /{name}.{type}: { get: { operationId: read, parameters: [${parameters.join(', ')}], ${anyResponse} } }`
  })
  const messageOf = async (url: string) => (await app.inject(url)).json().message
  t.equal(await messageOf('/x.y?limit=10'), 'The query parameter "color" is missing. ' +
    'The query parameter "limit" must be at most 9. The path parameter "name" must be an integer. ' +
    'The header field "X-Trace" is missing.')
  t.equal(await messageOf('/1.y?color=%zz&limit=%zz'), 'A parameter or a cookie has invalid percent-encoding. ' +
    'The header field "X-Trace" is missing.', 'a fault of several parameters has one sentence')
  t.equal((await app.inject('/1.?limit=x')).statusCode, 404, 'no parameter counts of another path')
})
