// Samples for the media types and header fields of a description: its examples, and where a value
// is needed and has none, one of its type. What a schema asks for beyond that, such as a pattern,
// they may miss: validate them.
import { isSchemaObject, valueAt } from './schema/index.ts'

type Node = Readonly<Record<string, unknown>>

/**
 * The sample of the media type or header field at these names; undefined if there is none.
 * @param isNeeded whether a value of the type counts where there is no example
 */
export type SampleAt = (place: string[], isNeeded: boolean) => unknown

export function sampler (document: object): SampleAt {
  const known = new Map<string, unknown>()
  /** The references around the current schema, which may contain itself. */
  const around = new Set<unknown>()

  function resolve (value: unknown): Node {
    if (!isSchemaObject(value)) return {}
    const { $ref, ...own } = value
    if (typeof $ref !== 'string') return value
    return { ...resolve(valueAt(document, $ref.slice(1))), ...own }
  }

  function sampleOf (schema: unknown, isNeeded: boolean): unknown {
    const { $ref } = Object(schema) as Node
    if ($ref === undefined) return make(schema, isNeeded)
    const key = `${isNeeded} ${$ref}`
    if (known.has(key)) return known.get(key)
    if (around.has($ref)) return undefined
    around.add($ref)
    const sample = make(schema, isNeeded)
    around.delete($ref)
    // Without the schemas around it, a schema may have a sample.
    if (sample !== undefined || !isNeeded || around.size === 0) known.set(key, sample)
    return sample
  }

  /** A schema and those of its allOf, which apply to the same value. */
  function partsOf (schema: unknown): Node[] {
    const node = resolve(schema)
    return [node, ...listOf(node.allOf).flatMap(partsOf)]
  }

  function make (schema: unknown, isNeeded: boolean): unknown {
    const parts = partsOf(schema)
    const whole: Node = Object.assign({}, ...parts.toReversed())
    const own = ownExample(parts[0] as Node)
    const type = typeOf(whole)
    if (type === 'object' && (own === undefined || isSchemaObject(own))) {
      return objectOf(parts, own, isNeeded)
    }
    const given = own ?? parts.map(ownExample).find(isPresent) ?? branchOf(whole, isNeeded)
    if (given !== undefined) return given
    if (type === 'array') return listOfItems(whole, isNeeded)
    return isNeeded ? valueOfType(whole, type) : undefined
  }

  /** The first branch of a union with an example, else the first with a value. */
  function branchOf ({ oneOf, anyOf, discriminator }: Node, isNeeded: boolean): unknown {
    const branches = [...listOf(oneOf), ...listOf(anyOf)]
    const sampleWithTag = (branch: unknown, isNeeded: boolean) => {
      return withTag(sampleOf(branch, isNeeded), branch, discriminator)
    }
    const example = branches.map(branch => sampleWithTag(branch, false)).find(isPresent)
    if (example !== undefined || !isNeeded) return example
    const samples = branches.map(branch => sampleWithTag(branch, true))
    return samples.find(sample => sample !== null && isPresent(sample)) ?? samples[0]
  }

  function listOfItems ({ items, minItems = 0 }: Node, isNeeded: boolean): unknown {
    const item = sampleOf(items, isNeeded)
    if (item !== undefined) return Array(Math.max(1, Number(minItems))).fill(item)
    return isNeeded ? [] : undefined
  }

  /** The members with examples, and those required. An own example only gets what it lacks. */
  function objectOf (parts: Node[], own: Node | undefined, isNeeded: boolean): unknown {
    const examples = [...parts.map(ownExample), ...parts.map(part => branchOf(part, isNeeded))]
    const sample: Record<string, unknown> = own === undefined
      ? Object.assign({}, ...examples.filter(isSchemaObject))
      : { ...own }
    const members = membersOf(parts)
    for (const [name, schema] of own === undefined ? members : []) {
      const example = Object.hasOwn(sample, name) ? undefined : sampleOf(schema, false)
      if (example !== undefined) sample[name] = example
    }
    if (!isNeeded && Object.keys(sample).length === 0) return undefined
    for (const name of parts.flatMap(({ required }) => listOf(required) as string[])) {
      const isHidden = members.has(name) && members.get(name) === undefined
      if (isHidden || Object.hasOwn(sample, name)) continue
      sample[name] = sampleOf(members.get(name), true)
      // The member contains itself without end.
      if (sample[name] === undefined) return undefined
    }
    return sample
  }

  /** The schemas of the members; undefined for one that answers do not have. */
  function membersOf (parts: Node[]): Map<string, unknown> {
    const members = new Map<string, unknown>()
    for (const [name, member] of parts.flatMap(part => Object.entries(Object(part.properties)))) {
      const isHidden = resolve(member).writeOnly === true
      const before = members.get(name)
      const both = before === undefined ? member : { allOf: [before, member] }
      members.set(name, isHidden ? undefined : both)
    }
    return members
  }

  return (place, isNeeded) => {
    let node: Node = document as Node
    // The contract has ranges such as 2XX in upper case only.
    for (const name of place) node = resolve(node[name] ?? node[name.toLowerCase()])
    const [first] = Object.values(Object(node.examples))
    const { value, dataValue = value } = resolve(first)
    const schema = node.itemSchema ?? node.schema
    return node.example ?? dataValue ?? sampleOf(schema, isNeeded && schema !== undefined)
  }
}

/** Adds the value of a discriminator that selects the branch, if a mapping names it. */
function withTag (sample: unknown, branch: unknown, discriminator: unknown): unknown {
  const { propertyName, mapping } = Object(discriminator) as Node
  if (!isSchemaObject(sample) || typeof propertyName !== 'string') return sample
  const { $ref } = Object(branch) as Node
  const tags = Object.entries(Object(mapping)).filter(([, target]) => target === $ref)
  const isRight = tags.length === 0 || tags.some(([tag]) => tag === sample[propertyName])
  return isRight ? sample : { ...sample, [propertyName]: tags[0]?.[0] }
}

/** Null shows nothing, so the next one counts. */
function ownExample ({ examples, example, default: value, const: only, enum: values }: Node) {
  return listOf(examples)[0] ?? example ?? value ?? only ?? listOf(values)[0]
}

/** The first type of a schema that is not null, or the one that its keywords mean. */
function typeOf ({ type, items, properties, required }: Node): unknown {
  const types = [type].flat()
  const first = types.find(name => name !== 'null') ?? types[0]
  if (first !== undefined) return first
  if (items !== undefined) return 'array'
  const members = properties ?? required
  return members === undefined ? undefined : 'object'
}

function valueOfType (schema: Node, type: unknown): unknown {
  switch (type) {
    case 'null': return null
    case 'boolean': return true
    case 'integer':
    case 'number': return numberOf(schema)
    default: return textOf(schema)
  }
}

function numberOf (schema: Node): number {
  const { exclusiveMinimum = NaN, maximum = 0, multipleOf = 1 } = schema as Record<string, number>
  const above = Number.isNaN(exclusiveMinimum) ? Math.min(0, maximum) : exclusiveMinimum + 1
  const { minimum = above } = schema as Record<string, number>
  return Math.ceil(minimum / multipleOf) * multipleOf
}

const textsOfFormats: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'name@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
  int64: '0'
}

function textOf (schema: Node): string {
  const { format = '', minLength = 0, maxLength = Infinity } = schema as Record<string, never>
  const text = textsOfFormats[format] ?? 'string'
  return text.padEnd(minLength, 'string').slice(0, maxLength)
}

function listOf (value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function isPresent (example: unknown): boolean {
  return example !== undefined
}
