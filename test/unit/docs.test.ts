// The documents name only files that exist.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

// Tests follow these guides, which tell their readers to create files.
const guides = ['docs/build/add-an-operation.md', 'src/contract/README.md']
const documents = globSync('{*.md,docs/*/*.md,src/contract/*.md}')
const folders = 'src|scripts|test|docs|deploy|bin|generated'

t.test('every path in a document and every link to a file leads somewhere', async t => {
  for (const document of documents) {
    const text = readFileSync(document, 'utf8')
    const links = Array.from(text.matchAll(/\]\(([^)#\s]+)/g), ([, path = '']) => path)
    for (const link of links) {
      if (!/^[a-z]+:/.test(link)) t.ok(existsSync(join(dirname(document), link)), `${document}: ${link}`)
    }
    // The changelog names files as they were.
    if (guides.includes(document) || document === 'CHANGELOG.md') continue
    for (const [, path = ''] of text.matchAll(new RegExp(`\`((?:${folders})/[\\w./-]+)\``, 'g'))) {
      t.ok(existsSync(path), `${document}: ${path}`)
    }
  }
})

t.test('the guide to the source names each file by a name that exists', async t => {
  const names = new Set(globSync('{src,scripts,test}/**/*.ts').map(file => file.replace(/.*\//, '')))
  const text = readFileSync('docs/build/reading-the-source.md', 'utf8')
  for (const [, name = ''] of text.matchAll(/`([\w-]+\.ts)`/g)) t.ok(names.has(name), name)
})
