// Reads style deepObject: `color[R]=100&color[G]=200` (OpenAPI 3.1.1, section 4.8.12.4), and what
// contracts describe beyond it: lists as `color[]=1`, `color[0]=1` or `color=1`, and texts.
import type { Notation, StyleReader } from './notation.ts'
import { faulty, type Json, objectJson, type TextWriter } from './text-json.ts'
import type { TextSchema } from './text-schema.ts'

/** What clients send beyond OpenAPI, which specifies neither lists nor objects inside an object. */
interface Rules {
  /** Deeper objects would only cost time. */
  maxDepth: number
  /** Whether an object inside needs a schema that says so. */
  needsSchema: boolean
}

/** A query has few levels. */
const parameterRules: Rules = { maxDepth: 5, needsSchema: true }
/** Libraries write a form from any value. */
const formRules: Rules = { maxDepth: 32, needsSchema: false }

/** The names in brackets after the name of a value, and a text. */
interface Entry { path: string[], text: string }

/** Reads also objects and lists inside: `color[x]=1&color[x]=2` or `color[x][]=1`. */
export function deepObjectReader ({ name, place, schema, decode }: Notation): StyleReader {
  const isForm = place === 'form'
  const rules = isForm ? formRules : parameterRules
  const start = `${name}[`
  const isText = !isForm && (schema.mayBeText || schema.types.has('array'))
  return (texts, writer) => {
    const entries: Entry[] = []
    for (const sent of [...texts.names()]) {
      if (sent !== name && !sent.startsWith(start)) continue
      const isWhole = sent === name
      if (isWhole ? !isText : !sent.endsWith(']')) {
        // A form may have such a member beside the object.
        if (isForm) continue
        return faulty(`must be sent as ${name}[member]=value`)
      }
      const path = isWhole ? [] : sent.slice(start.length, -1).split('][')
      if (path.length > rules.maxDepth) return faulty(`nests more than ${rules.maxDepth} objects`)
      for (const text of texts.of(sent)) entries.push({ path, text: decode(text) })
    }
    return entries.length === 0 ? undefined : levelJson(entries, 0, schema, { rules, writer })
  }
}

interface How { rules: Rules, writer: TextWriter }

/** The JSON of entries that have the same names up to a depth. */
function levelJson (
  entries: Entry[],
  depth: number,
  schema: TextSchema | undefined,
  how: How
): Json {
  const { rules, writer } = how
  const ended = entries.filter(({ path }) => path.length === depth)
  if (ended.length === entries.length) return writer.several(ended.map(({ text }) => text), schema)
  const inner = Map.groupBy(entries, ({ path }) => path[depth] ?? '')
  const isList = ended.length === 0 && inner.keys().every(name => /^\d*$/.test(name))
  const item = schema?.item()
  if (isList && item !== undefined) return listJson(inner, depth + 1, item, how)
  const isObject = !rules.needsSchema || schema?.types.has('object') === true
  if (!isObject) return faulty('must not have members')
  if (ended.length > 0) return faulty('is sent with and without members')
  const members = new Map<string, Json>()
  for (const [name, ofName] of inner) {
    members.set(name, levelJson(ofName, depth + 1, schema?.member(name), how))
  }
  return objectJson(members)
}

/** Of `a[]=x&a[]=y` each entry is an item, of `a[0]=x&a[1]=y` each index. */
function listJson (inner: Map<string, Entry[]>, depth: number, item: TextSchema, how: How): Json {
  const groups = (inner.get('') ?? []).map(entry => [entry])
  const indexes = [...inner.keys()].filter(name => name !== '')
  for (const index of indexes.sort((a, b) => Number(a) - Number(b))) {
    groups.push(inner.get(index) as Entry[])
  }
  const items: string[] = []
  for (const group of groups) {
    const json = levelJson(group, depth, item, how)
    if (typeof json !== 'string') return json
    items.push(json)
  }
  return `[${items.join()}]`
}
