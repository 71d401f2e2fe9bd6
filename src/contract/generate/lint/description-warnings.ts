// What a whole description has that is allowed, and hardly meant.
import { didYouMean } from '../../message/did-you-mean.ts'
import { kindOf } from '../../message/media-type.ts'
import type { Content, Encoding, Media } from '../../types/contract.ts'
import {
  type Description, hasIgnoredBody, listOperations, membersOf, operationPointer, pointerOf, resolve,
  visitValues
} from '../description/description.ts'
import { discriminatorWarnings } from '../description/discriminators.ts'
import { emptiedObjects } from './emptied-objects.ts'

/** A sentence, and the JSON pointer of what it is about. */
interface Warning { pointer: string, sentence: string }

export function warningsOfDescription (document: Description): Warning[] {
  return checks.flatMap(check => check(document))
}

const checks = [
  sharedIds, addressesWithoutScheme, discriminatorWarnings, emptiedAnswers, ignoredBodies,
  unknownEncodings, ignoredEncodings, roundedExamples
]

function sharedIds (document: Description): Warning[] {
  const warnings: Warning[] = []
  const byId = Map.groupBy(listOperations(document), ({ operation }) => operation.operationId)
  for (const [id, [first, ...others]] of byId) {
    if (id === undefined || first === undefined || others.length === 0) continue
    warnings.push({
      pointer: `${operationPointer(first.url, first.method)}/operationId`,
      sentence: `${others.length + 1} operations have the operationId \`${id}\`: each is named ` +
        'by its method and path.'
    })
  }
  return warnings
}

function addressesWithoutScheme ({ servers = [] }: Description): Warning[] {
  const warnings: Warning[] = []
  for (const [index, { url }] of servers.entries()) {
    if (!hostWithoutScheme.test(url)) continue
    const sentence = `This address is a path, as it has no scheme: write https://${url}.`
    warnings.push({ pointer: `#/servers/${index}/url`, sentence })
  }
  return warnings
}

const hostWithoutScheme = /^(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:\/|$)/i

function emptiedAnswers (document: Description): Warning[] {
  const sentence = 'This object of an answer declares no member, and is sent without any: write ' +
    '`additionalProperties: true` to send all.'
  return emptiedObjects(document).map(pointer => ({ pointer, sentence }))
}

function ignoredBodies (document: Description): Warning[] {
  const sentence = 'The body of GET, HEAD or TRACE is ignored: HTTP gives it no meaning.'
  return listOperations(document).filter(hasIgnoredBody).map(({ url, method }) => {
    return { pointer: `${operationPointer(url, method)}/requestBody`, sentence }
  })
}

/** An encoding, and the JSON pointer of it. */
interface PlacedEncoding extends Encoding {
  headers?: object
  type: string
  media: Media
  name: string
  pointer: string
}

function * encodingsOf (document: Description): Generator<PlacedEncoding> {
  for (const { url, method, operation } of listOperations(document)) {
    const { content = {} } = resolve<{ content?: Content }>(document, operation.requestBody ?? {})
    for (const [type, given] of Object.entries(content)) {
      // The linter reports what is null.
      const media: Media = Object(given)
      for (const [name, encoding] of Object.entries(media.encoding ?? {})) {
        const place = pointerOf(['requestBody', 'content', type, 'encoding', name]).slice(1)
        yield { ...encoding, type, name, media, pointer: operationPointer(url, method) + place }
      }
    }
  }
}

function unknownEncodings (document: Description): Warning[] {
  const warnings: Warning[] = []
  for (const { name, media: { schema }, pointer } of encodingsOf(document)) {
    const members = membersOf(document, Object(schema))
    if (members.length === 0 || members.includes(name)) continue
    const sentence = `The schema has no member \`${name}\`, which this encoding is for.` +
      didYouMean(name, members)
    warnings.push({ pointer, sentence })
  }
  return warnings
}

/** Without a style, and by `form` exploded, an array has a part for each item, as it is read. */
function ignoredEncodings (document: Description): Warning[] {
  const warnings: Warning[] = []
  for (const { type, style = 'form', explode = true, headers, pointer } of encodingsOf(document)) {
    if (kindOf(type) !== 'multipart') continue
    if (style !== 'form' || !explode) {
      const sentence = 'The style of a part of multipart/form-data is ignored: a part is a ' +
        'value, and an array has one for each item.'
      warnings.push({ pointer, sentence })
    }
    if (headers !== undefined) {
      const sentence = 'The header fields of a part of multipart/form-data are ignored.'
      warnings.push({ pointer, sentence })
    }
  }
  return warnings
}

const inExample = /(?<!\/(?:properties|patternProperties|schemas|headers))\/examples?(?:\/|$)/

/** Integers in examples that the parser of the contract may have rounded. */
function roundedExamples (document: Description): Warning[] {
  const sentence = 'A number beyond 2^53 in an example is rounded: it is read as a double.'
  const warnings: Warning[] = []
  visitValues(document, (value, path) => {
    const size = typeof value === 'number' ? Math.abs(value) : 0
    if (size < 2 ** 53 || size > 2 ** 64) return
    const pointer = pointerOf(path)
    if (inExample.test(pointer)) warnings.push({ pointer, sentence })
  })
  return warnings
}
