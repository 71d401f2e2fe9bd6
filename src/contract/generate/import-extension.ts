// How generated files import each other. Reads tsconfig.json without a compiler: TypeScript 7 has
// no API for it.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { isSchemaObject } from '../schema/index.ts'

/**
 * How a file of a folder imports another: by the name of the source where its tsconfig.json allows
 * that, as Node runs it, else by that of the compiled file.
 */
export function importExtension (folder: string): '.ts' | '.js' {
  const file = findConfig(resolve(folder))
  if (file === undefined) return '.ts'
  const { allowImportingTsExtensions, rewriteRelativeImportExtensions } = readOptions(file)
  return allowImportingTsExtensions || rewriteRelativeImportExtensions ? '.ts' : '.js'
}

function findConfig (folder: string): string | undefined {
  const file = join(folder, 'tsconfig.json')
  if (existsSync(file)) return file
  const parent = dirname(folder)
  return parent === folder ? undefined : findConfig(parent)
}

/** None of a file that is missing or malformed, which the compiler reports. */
function readOptions (file: string): Record<string, unknown> {
  const options = {}
  try {
    const config: unknown = JSON.parse(withoutComments(readFileSync(file, 'utf8')))
    if (!isSchemaObject(config)) return options
    for (const base of [config.extends ?? []].flat() as string[]) {
      Object.assign(options, readOptions(locate(file, base)))
    }
    Object.assign(options, config.compilerOptions)
  } catch {}
  return options
}

/** A base is a file beside, or a part of a package; `.json` may be missing. */
function locate (file: string, base: string): string {
  const { resolve: find } = createRequire(file)
  try {
    return find(base)
  } catch {
    return find(`${base}.json`)
  }
}

/** JSON without the comments and commas at the end that the compiler allows. */
function withoutComments (text: string): string {
  const tokens = /"(?:[^"\\]|\\.)*"|\/\/.*|\/\*[^]*?\*\//g
  const plain = text.replaceAll(tokens, token => token.startsWith('"') ? token : '')
  const commas = /"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g
  return plain.replaceAll(commas, token => token === ',' ? '' : token)
}
