// Visits the references of a description: records them for the survey, and reports those that are
// not served.
import type { ResolveResult, Source, UserContext } from '@redocly/openapi-core'
import { didYouMean } from '../../message/did-you-mean.ts'
import { escapedKey, valueAt } from '../../schema/index.ts'
import { isHoisted } from '../description/schema-names.ts'
import { placeAt, type Survey } from './survey.ts'
import { report } from './unsupported-features.ts'

/** The description that is visited: its file, and what is in it. */
export interface Top { source: Source, root: object }

/** @param target what the reference leads to, over others */
export function visitReference (
  $ref: string,
  target: Pick<ResolveResult<object>, 'location' | 'node'>,
  context: UserContext,
  survey: Survey,
  top: Top
): void {
  const { location, node } = target
  const { source } = context.location
  const from = placeAt(context.location)
  // One that refers to nothing has a location, but no node.
  if (location !== undefined && node !== undefined) {
    survey.sources.set(location.source.absoluteRef, location.source)
    survey.references.add(from, placeAt(location))
  }
  if (node === undefined) {
    const hint = source === top.source ? similarTarget($ref, top.root) : ''
    survey.missing.set(from, `there is no ${$ref}.${hint}`)
  }
  // `location` is where the last of several references leads: this names a component on the way.
  const component = /^#\/components\/[^/]+\/[^/]+/.exec($ref)?.[0]
  if (component !== undefined) survey.references.addUse(from, source.absoluteRef + component)
  reportTarget($ref, target, context, top)
  const { name } = context.type
  if (location === undefined || !holders.includes(name) || !isComponent(location.pointer)) return
  survey.misread.add(placeAt(location))
  const message = `This $ref leads to a schema, not to a ${name}: name it in \`schema\`.`
  context.report({ message, location: context.location })
}

function isComponent (pointer: string): boolean {
  return pointer.startsWith('#/components/schemas/')
}

function reportTarget (
  $ref: string,
  { location, node }: Parameters<typeof visitReference>[1],
  context: UserContext,
  top: Top
): void {
  const { name } = context.type
  const { source } = context.location
  const pointer = location?.pointer ?? ''
  // Bundling replaces references into other files, wherever they are, those of schemas by
  // component schemas.
  const isInside = source === top.source && $ref.startsWith('#')
  if (isInside && node !== undefined && !referable.includes(name)) {
    report(context, 'reference', undefined, $ref)
  }
  const isToSchema = isComponent(pointer) || isHoisted(pointer)
  const isInTop = node !== undefined && location?.source === top.source
  if (name === 'Schema' && isInTop && !isToSchema) {
    report(context, 'schemaReference', undefined, $ref)
  }
}

const referable = [
  'PathItem', 'Schema', 'Response', 'Parameter', 'Example', 'RequestBody', 'Header',
  'SecurityScheme', 'Link', 'Callback', 'MediaType', 'DiscriminatorMapping',
  // Texts, and what is in extensions.
  'scalar', 'SpecExtension'
]
/** What contains schemas, and may itself be a reference. */
const holders = ['Response', 'Parameter', 'RequestBody', 'Header', 'MediaType']

/** Asks for another part of the description, beside the one that a reference misses. */
function similarTarget ($ref: string, root: object): string {
  const [, parent = '', name = ''] = /^#(.*)\/(.*)$/s.exec($ref) ?? []
  const holder = valueAt(root, parent)
  if (holder === undefined) return similarTarget(`#${parent}`, root)
  return didYouMean(name, Object.keys(Object(holder)).map(escapedKey))
}
