// What the linter's visit of a description learns beside its findings.
import type { LocationObject, Source, UserContext } from '@redocly/openapi-core'
import type { Schema } from '../../schema/index.ts'
import { locate } from '../files/findings.ts'
import { annotations, keywords } from '../description/normalize.ts'
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
  /** Keywords that are written as in another version of OpenAPI. */
  readonly otherForms: LocationObject[] = []
  /** What is missing, as a sentence, by the place of the reference to it. */
  readonly missing = new Map<string, string>()
  /** Why paths keep their fragments, by path. */
  readonly differences: ReadonlyMap<string, string>

  constructor (differences: Survey['differences']) {
    this.differences = differences
  }

  /** Puts file, line and column before a JSON pointer of the bundled description. */
  locate (root: Source, pointer: string): string {
    let place = `${root.absoluteRef}#/`
    for (const key of pointer.split('/').slice(1)) {
      place = this.references.resolve(childPlace(place, key))
    }
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
      const place = location.child(word).key()
      const others = this.unknown.get(word)
      if (others === undefined) this.unknown.set(word, [place])
      else others.push(place)
    }
  }
}

/** A place for `References`. */
export function placeAt ({ source, pointer }: LocationObject): string {
  return `${source.absoluteRef}${pointer}`
}
