// The files of a new project around its code.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { compiledFile } from '../generate/emit/import-extension.ts'

/** The package.json of this package. */
export interface OwnManifest {
  name: string
  version: string
  peerDependencies: { fastify: string }
}

/** The command refuses an old Node by one sentence; Node itself does not know the file's type. */
const refuseOldNode = 'fastify-openapi-contract --version'

/** The folder of the generated files, and how files import them. */
interface Layout { out: string, extension: string }

export function startScripts ({ out, extension }: Layout): Record<string, string> {
  if (extension === '.js') {
    return { prestart: refuseOldNode, start: `node ${compiledFile('src/main.ts')}` }
  }
  const watched = out.startsWith('src/') ? ['src'] : ['src', out]
  // Node's --watch loses a file that an editor or git replaces.
  const watch = watched.map(folder => `--watch-path=${folder}`).join(' ')
  return {
    prestart: refuseOldNode,
    start: 'node src/main.ts',
    // Node cannot watch a folder that is missing.
    predev: 'npm run generate',
    dev: `node ${watch} src/main.ts`
  }
}

export function projectManifest (generate: string, own: OwnManifest, layout: Layout) {
  const isCompiled = layout.extension === '.js'
  const tests = isCompiled ? compiledFile('src/app.test.ts') : 'test/*.test.ts'
  return {
    name: packageName(basename(resolve())),
    version: '1.0.0',
    private: true,
    type: 'module',
    engines: { node: '>=24.4' },
    scripts: {
      ...startScripts(layout),
      generate,
      build: isCompiled ? 'tsc' : 'tsc -p tsconfig.build.json',
      test: `npm run generate -- --check && tsc && node --test ${tests}`
    },
    dependencies: {
      fastify: own.peerDependencies.fastify,
      [own.name]: sourceOf(own, join(import.meta.dirname, '..'))
    },
    devDependencies: {
      '@types/node': '^24.0.0',
      typescript: '^7.0.2'
    }
  }
}

/** What npm installs as a package: the file or folder that it came from, or else its version. */
export function sourceOf (
  { name, version }: Pick<OwnManifest, 'name' | 'version'>,
  folder: string
): string {
  const modules = dirname(folder)
  if (basename(modules) !== 'node_modules') return `file:${relative('', folder)}`
  const project = dirname(modules)
  const manifest = readManifest(project)
  const [, path] = /^file:(.*)/.exec(Object(manifest?.dependencies)[name]) ?? []
  return path === undefined ? `^${version}` : `file:${relative('', resolve(project, path))}`
}

/** The package.json of a folder, which may have none. */
export function readManifest (folder: string): Manifest | undefined {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}. Correct the file.`)
  }
}

/** A folder's name as npm allows it. */
function packageName (folder: string): string {
  const words = folder.toLowerCase().match(/[a-z0-9]+/g) ?? ['service']
  return words.join('-')
}

export function projectFiles (manifest: object, extension: string): Record<string, string> {
  const build = {
    extends: './tsconfig.json',
    compilerOptions: { noEmit: false, rewriteRelativeImportExtensions: true, outDir: 'dist' },
    include: ['src', 'generated']
  }
  return {
    'package.json': toJson(manifest),
    'tsconfig.json': toJson({
      compilerOptions: {
        target: 'esnext',
        module: 'nodenext',
        types: ['node'],
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        erasableSyntaxOnly: true,
        verbatimModuleSyntax: true,
        skipLibCheck: true
      },
      include: ['src', 'test', 'generated']
    }),
    ...extension === '.ts' ? { 'tsconfig.build.json': toJson(build) } : {},
    '.gitignore': 'node_modules\ndist\n.env\n'
  }
}

function toJson (value: object): string {
  return JSON.stringify(value, null, 2) + '\n'
}

export type Manifest = Record<string, unknown>

/** The parts of a package.json that another one needs: its type, scripts and packages. */
export function missingFrom (existing: Manifest, wanted: Manifest): Manifest {
  const missing: Manifest = existing.type === wanted.type ? {} : { type: wanted.type }
  const installed = { ...Object(existing.dependencies), ...Object(existing.devDependencies) }
  const present: Manifest = {
    scripts: Object(existing.scripts), dependencies: installed, devDependencies: installed
  }
  for (const [part, names] of Object.entries(present)) {
    const lacking = Object.entries(Object(wanted[part])).filter(([name]) => {
      return !Object.hasOwn(Object(names), name)
    })
    if (lacking.length > 0) missing[part] = Object.fromEntries(lacking)
  }
  return missing
}
