import { join } from 'node:path'
import t from 'tap'
import { compilerOptions, importExtension } from '../../../../../src/contract/generate/emit/import-extension.ts'

const allowed = { compilerOptions: { allowImportingTsExtensions: true } }
const rewritten = { compilerOptions: { rewriteRelativeImportExtensions: true } }
const refused = { compilerOptions: { allowImportingTsExtensions: false } }

t.test('the nearest tsconfig.json says by which name a generated file imports another', t => {
  const folder = t.testdir({
    'tsconfig.json': JSON.stringify(refused),
    source: { 'tsconfig.json': JSON.stringify(allowed), generated: {} },
    rewriting: { 'tsconfig.json': JSON.stringify(rewritten) },
    compiled: { 'tsconfig.json': '{}' }
  })
  t.equal(importExtension(join(folder, 'source/generated')), '.ts')
  t.equal(importExtension(join(folder, 'source/not-there-yet')), '.ts')
  t.equal(importExtension(join(folder, 'rewriting')), '.ts')
  t.equal(importExtension(join(folder, 'compiled')), '.js', 'it has no option')
  t.equal(importExtension(join(folder, 'other')), '.js', 'that of the parent counts')
  t.equal(importExtension('generated'), '.ts', 'a relative path')
  t.end()
})

t.test('without a tsconfig.json a file is imported by its own name, as Node runs it', t => {
  t.equal(importExtension('/nowhere/generated'), '.ts')
  t.strictSame(compilerOptions('/nowhere'), {})
  t.end()
})

t.test('options come from the bases, too: the last one counts, and the own ones most', t => {
  const extending = (bases: string | string[], own = {}) => {
    return { 'tsconfig.json': JSON.stringify({ extends: bases, ...own }) }
  }
  const folder = t.testdir({
    'allowed.json': JSON.stringify(allowed),
    'refused.json': JSON.stringify(refused),
    node_modules: { base: { 'package.json': '{}', 'tsconfig.json': JSON.stringify(allowed) } },
    file: extending('../allowed.json'),
    short: extending('../allowed'),
    chain: extending('../file/tsconfig.json'),
    list: extending(['../allowed.json', '../refused.json']),
    package: extending('base/tsconfig.json'),
    named: extending('base'),
    own: extending('../allowed.json', refused),
    missing: extending('../not-there.json', allowed),
    self: extending('./tsconfig.json', allowed)
  })
  const extensions = { file: '.ts', short: '.ts', chain: '.ts', list: '.js', package: '.ts', named: '.ts', own: '.js' }
  for (const [name, extension] of Object.entries(extensions)) {
    t.equal(importExtension(join(folder, name)), extension, name)
  }
  t.equal(importExtension(join(folder, 'missing')), '.ts', 'own options count beside a missing base')
  t.equal(importExtension(join(folder, 'self')), '.ts', 'a base that is the file itself')
  t.end()
})

t.test('comments, commas at the end and a malformed file', t => {
  const text = `// Of Node.
{
  "include": ["src/**/*.ts"], /* "a": 1 */
  "exclude": ["//", ",]"],
  "compilerOptions": {
    // "allowImportingTsExtensions": false,
    "paths": { "@/*": ["./src/*"] },
    "allowImportingTsExtensions": true, // as Node
  },
}
`
  const folder = t.testdir({
    lenient: { 'tsconfig.json': text },
    malformed: { 'tsconfig.json': '{ "compilerOptions": ' },
    other: { 'tsconfig.json': '[]' }
  })
  t.equal(importExtension(join(folder, 'lenient')), '.ts')
  t.equal(importExtension(join(folder, 'malformed')), '.js')
  t.equal(importExtension(join(folder, 'other')), '.js')
  t.end()
})
