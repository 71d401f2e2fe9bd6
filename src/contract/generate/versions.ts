// The versions of OpenAPI: which are read, how 3.0 becomes 3.1, and what of 3.2 is not served.
import { upgrade } from '@scalar/openapi-upgrader'
import type { Document, LocationObject, Oas3Rule, UserContext } from '@redocly/openapi-core'
import type { Description } from './description.ts'
import { ContractError, locate } from './findings.ts'
import { unsupported } from './unsupported.ts'

/** @throws ContractError for a document of another version, which the linter may not know at all */
export function refuseOtherVersions ({ parsed, source }: Document): void {
  const { openapi, swagger } = Object(parsed)
  if (typeof openapi === 'string' && /^3\.[012]\./.test(openapi)) return
  const field = ['openapi', 'swagger'].find(name => Object.hasOwn(Object(parsed), name)) ?? ''
  const place = locate({ source, pointer: `#/${field}`, reportOnKey: field !== '' })
  const version = JSON.stringify(openapi ?? swagger ?? null).replaceAll('"', '')
  throw new ContractError([`${place} Not supported: ${unsupported.version} (${version}).`])
}

/** A bundled description of OpenAPI 3.0 as one of 3.1; the others stay as they are. */
export function upgraded (document: Description): Description {
  return document.openapi.startsWith('3.0.') ? upgrade({ ...document }, '3.1') as unknown as Description : document
}

/** Refuses what OpenAPI 3.2 adds to an object and what would mislead if it were ignored. */
export const servedVersion: Oas3Rule = () => ({
  Paths: {
    PathItem: {
      enter: (item, context) => {
        refuse(item, context, 'query')
        // Not one of the operations that can be skipped: the whole path is.
        if ('additionalOperations' in Object(item)) report(context, context.location.key(), 'additionalOperations')
      },
      Parameter: ({ in: place }, context) => {
        if (String(place) === 'querystring') report(context, context.location.child('in').key(), 'querystring')
      },
      MediaTypesMap: (content, context) => {
        for (const [type, media] of Object.entries(content)) {
          if ('$ref' in Object(media)) report(context, context.location.child(type).key(), '$ref')
        }
      },
      MediaType: (media, context) => refuse(media, context, 'itemSchema', 'prefixEncoding', 'itemEncoding')
    }
  },
  Discriminator: (discriminator, context) => refuse(discriminator, context, 'defaultMapping')
})

function refuse (node: object, context: UserContext, ...fields: string[]): void {
  for (const field of fields) if (field in Object(node)) report(context, context.location.child(field).key(), field)
}

function report (context: UserContext, location: LocationObject, field: string): void {
  context.report({ message: `Not supported: ${unsupported.newIn32} (${field}).`, location })
}
