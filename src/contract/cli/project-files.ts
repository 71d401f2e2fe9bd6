// The files of a new project around its code.
import { basename, resolve } from 'node:path'

/** The package.json of this package. */
export interface OwnManifest { version: string, peerDependencies: { fastify: string } }

const node = 'node --env-file-if-exists=.env'
export const startScripts = { start: `${node} src/main.ts`, dev: `${node} --watch src/main.ts` }

export function projectManifest (generate: string, own: OwnManifest) {
  return {
    name: packageName(basename(resolve())),
    version: '1.0.0',
    private: true,
    type: 'module',
    engines: { node: '>=24.4' },
    scripts: {
      ...startScripts,
      generate,
      build: 'tsc -p tsconfig.build.json',
      test: 'npm run generate -- --check && tsc && node --test test/*.test.ts'
    },
    dependencies: {
      fastify: own.peerDependencies.fastify,
      'fastify-openapi-contract': `^${own.version}`
    },
    devDependencies: {
      '@types/node': '^24.0.0',
      typescript: '^7.0.2'
    }
  }
}

/** A folder's name as npm allows it. */
function packageName (folder: string): string {
  const words = folder.toLowerCase().match(/[a-z0-9]+/g) ?? ['service']
  return words.join('-')
}

export function projectFiles (manifest: object): Record<string, string> {
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
    'tsconfig.build.json': toJson({
      extends: './tsconfig.json',
      compilerOptions: { noEmit: false, rewriteRelativeImportExtensions: true, outDir: 'dist' },
      include: ['src', 'generated']
    }),
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
