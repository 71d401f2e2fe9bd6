// How generated files import each other. Reads tsconfig.json without a compiler: TypeScript 7 has
// no API for it.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'

/**
 * How a file of a folder imports another: by the name of the source where its tsconfig.json allows
 * that, as Node runs it, else by that of the compiled file.
 */
export function importExtension (folder: string): '.ts' | '.js' {
  if (findConfig(resolve(folder)) === undefined) return '.ts'
  const { allowImportingTsExtensions, rewriteRelativeImportExtensions } = compilerOptions(folder)
  return allowImportingTsExtensions || rewriteRelativeImportExtensions ? '.ts' : '.js'
}

/** The options of the tsconfig.json that a folder is below; none without such a file. */
export function compilerOptions (folder: string): Record<string, unknown> {
  const file = findConfig(resolve(folder))
  return file === undefined ? {} : readOptions(file)
}

/** Where the compiler puts the code of a source below the current folder. */
export function compiledFile (source: string): string {
  const { outDir = '', rootDir = '' } = compilerOptions('')
  return join(String(outDir), relative(String(rootDir), source)).replace(/\.ts$/, '.js')
}

function findConfig (folder: string): string | undefined {
  const file = join(folder, 'tsconfig.json')
  if (existsSync(file)) return file
  const parent = dirname(folder)
  return parent === folder ? undefined : findConfig(parent)
}

/** Without those of a file that is missing or malformed, which the compiler reports. */
function readOptions (file: string, passed: string[] = []): Record<string, unknown> {
  const config = readConfig(file)
  const options = {}
  const seen = [...passed, file]
  for (const name of [config.extends ?? []].flat()) {
    const base = locate(file, String(name))
    if (base !== undefined && !seen.includes(base)) Object.assign(options, readOptions(base, seen))
  }
  return Object.assign(options, config.compilerOptions)
}

function readConfig (file: string): Record<string, unknown> {
  try {
    const config: unknown = JSON.parse(withoutComments(readFileSync(file, 'utf8')))
    return Object(config)
  } catch {
    return {}
  }
}

/** The file of a base, beside or in a package, as the compiler completes its name. */
function locate (file: string, base: string): string | undefined {
  for (const name of [base, `${base}.json`, `${base}/tsconfig.json`]) {
    try {
      return createRequire(file).resolve(name)
    } catch {}
  }
  return undefined
}

/** JSON without the comments and commas at the end that the compiler allows. */
function withoutComments (text: string): string {
  const tokens = /"(?:[^"\\]|\\.)*"|\/\/.*|\/\*[^]*?\*\//g
  const plain = text.replaceAll(tokens, token => token.startsWith('"') ? token : '')
  const commas = /"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g
  return plain.replaceAll(commas, token => token === ',' ? '' : token)
}
