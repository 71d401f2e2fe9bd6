// What the linter's visit of a description learns beside its findings.
import type { LocationObject, Source, UserContext } from '@redocly/openapi-core'
import type { Schema } from '../../schema/index.ts'
import { locate } from '../files/findings.ts'
import { annotations, keywords } from '../description/normalize.ts'
import { didYouMean } from '../../message/did-you-mean.ts'
import { formsOfOtherVersion } from './openapi-version.ts'
import { childPlace, References } from './references.ts'

export class Survey {
  /** The version of OpenAPI, as the linter calls it. */
  version: UserContext['specVersion'] | undefined
  readonly references = new References()
  /** The files that references lead to, by their path. */
  readonly sources = new Map<string, Source>()
  /** Schemas with a keyword that JSON Schema 2020-12 does not know, by keyword. */
  readonly unknown = new Map<string, LocationObject[]>()
  /** Formats of numbers that are like those with a meaning, by format. */
  readonly unknownFormats = new Map<string, LocationObject[]>()
  /** Keywords that are written as in another version of OpenAPI. */
  readonly otherForms: LocationObject[] = []
  readonly patterns: Array<{ pattern: string, location: LocationObject }> = []
  readonly slowPatterns: LocationObject[] = []
  /** What is missing, as a sentence, by the place of the reference to it. */
  readonly missing = new Map<string, string>()
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
    const invalid = this.patterns.find(({ pattern, location }) => {
      return placeAt(location).startsWith(`${place}/`) && message.includes(`: /${pattern}/u: `)
    })
    if (invalid !== undefined) return locate(invalid.location)
    const [file = '', inFile = ''] = place.split('#')
    const source = this.sources.get(file) ?? root
    return locate({ source, pointer: `#${inFile}`, reportOnKey: true })
  }

  addSchema (schema: Schema, { location, specVersion }: UserContext): void {
    for (const word of formsOfOtherVersion(schema, specVersion === 'oas3_0')) {
      this.otherForms.push(location.child(word).key())
    }
    for (const word of Object.keys(schema)) {
      if (keywords.has(word) || annotations.has(word) || word.startsWith('x-')) continue
      if (word === 'nullable' && specVersion === 'oas3_0') continue
      addPlace(this.unknown, word, location.child(word).key())
    }
    const { type, format, pattern, maxLength } = schema
    if (typeof pattern === 'string') {
      const place = location.child('pattern')
      this.patterns.push({ pattern, location: place })
      if (maxLength === undefined && repeatsRepetitions.test(pattern)) this.slowPatterns.push(place)
    }
    const isNumber = [type].flat().some(each => each === 'integer' || each === 'number')
    if (!isNumber || typeof format !== 'string') return
    if (registeredFormats.includes(format) || didYouMean(format, numberFormats) === '') return
    addPlace(this.unknownFormats, format, location.child('format').key())
  }
}

function addPlace (found: Survey['unknown'], word: string, place: LocationObject): void {
  const others = found.get(word)
  if (others === undefined) found.set(word, [place])
  else others.push(place)
}

const atom = String.raw`(?:\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|[^\\()[\]+*?{|])`
/** A group that is repeated and has nothing but repeated and optional parts, such as (a+)+. */
const repeatsRepetitions = new RegExp(
  String.raw`\((?:\?:)?(?:${atom}[+*?])*${atom}[+*](?:${atom}[*?])*\)(?:[+*]|\{\d+,)`
)

export const numberFormats = ['float', 'double', 'int32', 'int64']
/** Others of OpenAPI's registry, which validate nothing. */
const otherFormats = ['int8', 'int16', 'uint8', 'uint16', 'uint32', 'uint64']
const registeredFormats = [...numberFormats, ...otherFormats]

/** A place for `References`. */
export function placeAt ({ source, pointer }: LocationObject): string {
  return `${source.absoluteRef}${pointer}`
}
