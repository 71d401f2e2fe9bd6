// What the linter's visit of a description learns beside its findings.
import type { LocationObject, Oas3Parameter, Source, UserContext } from '@redocly/openapi-core'
import type { Schema } from '../../schema/index.ts'
import { locate } from '../files/findings.ts'
import { didYouMean } from '../../message/did-you-mean.ts'
import { essence, kindOf } from '../../message/media-type.ts'
import { childPlace, References } from './references.ts'
import { warningsOfSchema } from './schema-warnings.ts'

/** Those that the service reads and writes, but for texts. */
const readTypes = [
  'application/json', 'application/problem+json', 'application/x-www-form-urlencoded',
  'multipart/form-data', 'application/x-ndjson', 'application/json-seq', 'text/event-stream'
]

export class Survey {
  /** The version of OpenAPI, as the linter calls it. */
  version: UserContext['specVersion'] | undefined
  readonly references = new References()
  /** The files that references lead to, by their path. */
  readonly sources = new Map<string, Source>()
  readonly patterns: Array<{ pattern: string, location: LocationObject }> = []
  /** The places of what is hardly meant as it is, by what is wrong with it. */
  readonly warnings = new Map<string, LocationObject[]>()
  /** What is missing, as a sentence, by the place of the reference to it. */
  readonly missing = new Map<string, string>()
  /** Schemas to which something else than a schema refers: the linter reads them as that. */
  readonly misread = new Set<string>()
  /** Why paths keep their fragments, by path. */
  readonly differences: ReadonlyMap<string, string>

  constructor (differences: Survey['differences']) {
    this.differences = differences
  }

  /**
   * Puts file, line and column before a JSON pointer of the bundled description.
   * @param message why a schema there fails: a pattern that it quotes is the place
   */
  locate (root: Source, pointer: string, message = ''): string {
    let place = `${root.absoluteRef}#/`
    for (const key of pointer.split('/').slice(1)) {
      place = this.references.resolve(childPlace(place, key))
    }
    const invalid = this.patterns.filter(({ pattern }) => message.includes(`: /${pattern}/u: `))
    const inside = invalid.find(({ location }) => placeAt(location).startsWith(`${place}/`))
    // A parameter of a path or a component is elsewhere.
    const { location = undefined } = inside ?? invalid[0] ?? {}
    if (location !== undefined) return locate(location)
    const [file = '', inFile = ''] = place.split('#')
    const source = this.sources.get(file) ?? root
    return locate({ source, pointer: `#${inFile}`, reportOnKey: true })
  }

  addSchema (schema: Schema, context: UserContext): void {
    const { location } = context
    for (const { sentence, keyword } of warningsOfSchema(schema, context)) {
      this.#warn(sentence, location.child(keyword).key())
    }
    const { pattern } = schema
    if (typeof pattern !== 'string') return
    this.patterns.push({ pattern, location: location.child('pattern') })
  }

  addParameter ({ in: place, required }: Oas3Parameter, { location }: UserContext): void {
    if (place !== 'path' || required === true) return
    this.#warn('A parameter in the path is required always: write `required: true`.', location)
  }

  addMediaType (type: string, place: LocationObject): void {
    const question = kindOf(type) === 'bytes' ? didYouMean(essence(type), readTypes) : ''
    if (question !== '') this.#warn(`\`${type}\` is bytes to the service.${question}`, place)
  }

  #warn (sentence: string, place: LocationObject): void {
    const places = this.warnings.get(sentence)
    if (places === undefined) this.warnings.set(sentence, [place])
    else places.push(place)
  }
}

/** A place for `References`. */
export function placeAt ({ source, pointer }: LocationObject): string {
  return `${source.absoluteRef}${pointer}`
}
