// The documents name only files that exist, and a page of docs/ is short.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

// Tests follow these guides, which tell their readers to create files.
const guides = ['docs/build/add-an-operation.md', 'src/contract/README.md']
const documents = globSync('{*.md,docs/*/*.md,src/contract/*.md}')
const folders = 'src|scripts|test|docs|deploy|bin|generated'

function withoutCode (text: string): string {
  return text.replace(/^```[^]*?^```$/gm, '')
}

/** The anchors that GitHub makes of the headings. */
function anchors (document: string): string[] {
  const headings = withoutCode(readFileSync(document, 'utf8')).matchAll(/^#+ (.+)$/gm)
  return Array.from(headings, ([, heading = '']) => {
    return heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
  })
}

function words (text: string): number {
  return text.split(/\s+/).filter(word => word !== '').length
}

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

t.test('every link to a section leads to one', async t => {
  for (const document of documents) {
    const links = readFileSync(document, 'utf8').matchAll(/\]\(([^)#\s:]*)#([^)]+)\)/g)
    for (const [link, path = '', anchor = ''] of links) {
      const target = path === '' ? document : join(dirname(document), path)
      t.ok(anchors(target).includes(anchor), `${document}: ${link}`)
    }
  }
})

t.test('a page of docs/ has at most 1,500 words, and its sentences at most 40', async t => {
  for (const page of globSync('docs/*/*.md')) {
    // The changes that a guide shows grow with the members of a plant.
    const text = readFileSync(page, 'utf8').replace(/```diff [^]*?```/g, '')
    t.ok(words(text) <= 1500, `${page} has ${words(text)} words: split it by task`)
    // Names in code count as nothing: a cell may list packages.
    const prose = withoutCode(text).replace(/`[^`]*`,?/g, '')
    const long = prose.split(/[.?!](?=\s)|[|\n]/).filter(sentence => words(sentence) > 40)
    t.strictSame(long, [], page)
  }
})

t.test('the changelog, the guide and the files of deploy/ name the version of package.json', async t => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const places = {
    'CHANGELOG.md': /^## ([\d.]+), \d{4}-\d\d-\d\d$/m,
    'docs/use/operating.md': /plant-store-([\d.]+)\.tgz/,
    'deploy/kubernetes.yaml': /image: plant-store:([\d.]+)$/m
  }
  for (const [file, pattern] of Object.entries(places)) {
    t.equal(pattern.exec(readFileSync(file, 'utf8'))?.[1], version, file)
  }
})

t.test('the guide to the source names each file by a name that exists', async t => {
  const names = new Set(globSync('{src,scripts,test}/**/*.ts').map(file => file.replace(/.*\//, '')))
  const text = readFileSync('docs/build/reading-the-source.md', 'utf8')
  for (const [, name = ''] of text.matchAll(/`([\w-]+\.ts)`/g)) t.ok(names.has(name), name)
})
