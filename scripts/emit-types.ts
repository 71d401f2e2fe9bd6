// The contract as TypeScript: what the compiler holds handlers and answers to.
import openapiTS, { astToString } from 'openapi-typescript'
import type { OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import type { Description } from './contract.ts'

const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
const nullType = ts.factory.createLiteralTypeNode(ts.factory.createNull())

/**
 * The types of a bundled description, as TypeScript source. An integer of format int64 is a `bigint`, as at run time:
 * a `number` cannot hold it (OpenAPI 3.1, section 4.4 and its format registry).
 */
export async function emitTypes (document: Description): Promise<string> {
  return astToString(await openapiTS(structuredClone(document) as OpenAPI3, {
    // A member with a default may be left out of a request; nothing fills it in.
    defaultNonNullable: false,
    silent: true,
    transform ({ type, format }: { type?: string | string[], format?: string }) {
      const types = [type].flat()
      if (format !== 'int64' || !types.includes('integer')) return undefined
      return types.includes('null') ? ts.factory.createUnionTypeNode([bigint, nullType]) : bigint
    }
  }))
}
