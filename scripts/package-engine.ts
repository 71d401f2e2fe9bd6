// npm run package-engine: compiles src/contract to a package that npm can pack and publish. Prints
// its folder, dist/fastify-openapi-contract unless --out names another.
import { spawnSync } from 'node:child_process'
import {
  chmodSync, cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { compiler, oneThread } from './compiler.ts'
import { exitWith, readOptions } from './options.ts'

interface Manifest {
  exports: Record<string, string>
  bin: Record<string, string>
  devDependencies: Record<string, string>
}

const source = 'src/contract'
const { out } = readOptions({
  out: { type: 'string', default: 'dist/fastify-openapi-contract' }
})
const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
try {
  if (isForeign(out)) {
    exitWith(`${out} has files, but not this package. Delete it, or name another folder: --out DIR`)
  }
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
} catch (error) {
  exitWith(`${out} cannot be written: ${(error as Error).message}. Name another folder: --out DIR`)
}
const args = [compiler, '--project', source, '--outDir', out, oneThread]
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
if (status !== 0) {
  rmSync(out, { recursive: true })
  exitWith('The package is not complete: correct the errors of the compiler.')
}
for (const file of globSync('**/*.d.ts', { cwd: out })) nameCompiledFiles(join(out, file))
const documents = ['README', 'GUIDE', 'REFERENCE', 'COMING-FROM', 'FEATURES', 'CHANGELOG']
for (const file of documents.map(name => `${name}.md`)) {
  cpSync(join(source, file), join(out, file))
}
cpSync('LICENSE', join(out, 'LICENSE'))
const published = toPublished(manifest)
writeFileSync(join(out, 'package.json'), JSON.stringify(published, null, 2) + '\n')
for (const file of Object.values(published.bin)) chmodSync(join(out, file), 0o755)
console.log(out)

/** Whether a folder has files, and not the compiled package: its source has devDependencies. */
function isForeign (folder: string): boolean {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return false
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return true
  const { name, devDependencies } = JSON.parse(readFileSync(file, 'utf8'))
  return name !== manifest.name || devDependencies !== undefined
}

/** The compiler changes the names of imported files in programs, but not in declarations. */
function nameCompiledFiles (file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/(["'])(\.{1,2}\/[^"']*)\.ts\1/g, '$1$2.js$1'))
}

/** The manifest of the compiled files. The generator's packages are left out of production. */
function toPublished ({ exports, bin, devDependencies, ...manifest }: Manifest) {
  const doors = Object.entries(exports).map(([name, file]) => {
    return [name, { types: compiled(file, '.d.ts'), default: compiled(file, '.js') }]
  })
  const commands = Object.entries(bin).map(([name, file]) => {
    return [name, compiled(file, '.js')] as const
  })
  return {
    ...manifest,
    engines: { node: '>=24.4' },
    exports: { ...Object.fromEntries(doors), './package.json': './package.json' },
    bin: Object.fromEntries(commands),
    optionalDependencies: devDependencies
  }
}

function compiled (file: string, extension: string): string {
  return file.replace(/\.ts$/, extension)
}
