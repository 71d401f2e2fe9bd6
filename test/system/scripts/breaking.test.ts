import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { inParallel } from '../../fixtures/parallel.ts'
import { withoutCoverage } from '../../fixtures/service.ts'

interface Run { code: number, stdout: string, stderr: string }

const test = inParallel(t, 2)
const contract = readFileSync('test/fixtures/contracts/plants.yaml', 'utf8')
const script = resolve('scripts/breaking.ts')

/** A repository with a commit and the tag v1 for the contract. */
function repository (t: Test, first = contract) {
  const folder = t.testdir({ 'openapi.yaml': first })
  const git = (...args: string[]) => {
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...args], { cwd: folder })
  }
  git('init', '--quiet')
  git('add', 'openapi.yaml')
  git('commit', '--quiet', '--message', 'x')
  git('tag', 'v1')
  const change = (text: string) => writeFileSync(join(folder, 'openapi.yaml'), text)
  const run = (command: string[], args: string[]) => new Promise<Run>(resolve => {
    const [program = '', ...others] = [...command, process.execPath, script, ...args]
    execFile(program, others, { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    })
  })
  // Under tap's coverage, Redocly takes seconds.
  const breaking = (...args: string[]) => run(withoutCoverage, args)
  const observed = (...args: string[]) => run([], args)
  return { folder, git, change, breaking, observed }
}

/** Replaces a text that the contract must have. */
function replace (text: string, replacement: string): (contract: string) => string {
  return contract => {
    if (!contract.includes(text)) throw new Error(`The contract has no longer: ${text}`)
    return contract.replace(text, () => replacement)
  }
}

const tag = '        tag:\n          type: string\n'
/** Of the id, and of the status: other members may have a format, too. */
const long = 'format: int64\n              description'
const short = long.replace('int64', 'int32')
const status = 'format: int32\n          description: The HTTP'
const message = 'message:\n          type: string'
const responses = "{ '200': { description: x }, '400': { description: x } }"
const conflict = /^ {8}'409':\n(?: {10}.*\n)+/m
const bearerOnly = 'security:\n  - bearerAuth: []\n'
const apiKey = '  securitySchemes:\n    key: { type: apiKey, in: header, name: X-Key }\n'
const withKey = (security: string) => (text: string) =>
  replace(bearerOnly, security)(replace('  securitySchemes:\n', apiKey)(text))

/** The contract with operations that a change may remove. */
const larger = replace('paths:\n', `paths:
  /trees:
    get: { operationId: listTrees, responses: ${responses} }
  /stones:
    get: { operationId: listStones, responses: ${responses} }
    put: # removed
      { operationId: putStones, responses: ${responses} }
`)(contract)

type Change = [name: string, edit: (contract: string) => string, message: RegExp]

/** Each list is one change of `larger`, because a comparison takes a second. */
const breakingChanges: Change[][] = [
  [
    ['a removed operation', replace('put: #', 'x-put: #'), /`PUT \/stones` was removed/],
    ['another path', replace('  /trees:\n', '  /bushes:\n'), /Path `\/trees` was removed/],
    ['another operationId', replace('createPlant', 'addPlant'), /`operationId` of .* changed/],
    ['a removed response', text => text.replace(conflict, ''), /Response `409` was removed/],
    ['a new required member', replace('- name\n', '- name\n        - tag\n'), /became required: `tag`/],
    ['an optional error message', replace('        - message\n', ''), /no longer required: `message`/],
    ['another pattern', replace("'^[^\\x00]*$'", "'^[a-z]*$'"), /`pattern` of `name` changed/],
    ['a new limit', replace(tag, `${tag}          maxLength: 9\n`), /`maxLength` of `tag` was set/],
    ['a list of values', replace(tag, `${tag}          enum: [a]\n`), /Enum of `tag` was set to 'a'/],
    ['int32 to int64 in a response', replace(status, status.replace('32', '64')), /`format` of `error` changed/],
    ['int64 to int32', replace(long, short), /`format` of `id` changed/],
    ['null in a response', replace(message, "message:\n          type: [string, 'null']"), /`message` widened/],
    ['another scheme', withKey('security:\n  - key: []\n'), /`bearerAuth` is no longer accepted/]
  ],
  [
    ['a removed member', replace('        tag:\n', '        label:\n'), /`tag` of `Plant` was removed/],
    ['another type', replace(`integer\n              ${long}`, 'string\n              description'), /Type of `id` narrowed/],
    ['a second credential', withKey(`${bearerOnly}    key: []\n`), /now requires `key`/],
    ['another HTTP scheme', replace('scheme: bearer', 'scheme: basic'), /`scheme` of .* changed/]
  ]
]

const compatibleChanges = [
  // A description, an optional member, a response, a header of a response, a path and a second way to authenticate.
  replace('Create a plant', 'Add a plant'),
  replace(tag, `        color:\n          type: string\n${tag}`),
  replace("        '409':\n", "        '418':\n          description: A teapot.\n        '409':\n"),
  replace('        WWW-Authenticate:\n', '        X-A: { schema: { type: string } }\n        WWW-Authenticate:\n'),
  replace('paths:\n', `paths:\n  /x: { get: { operationId: x, responses: ${responses} } }\n`),
  withKey(`${bearerOnly}  - key: []\n`)
]

test('each change that can break a client is a line, and the exit code is 1', async t => {
  const { change, breaking } = repository(t, larger)
  for (const changes of breakingChanges) {
    let text = larger
    for (const [, edit] of changes) text = edit(text)
    change(text)
    const { code, stdout, stderr } = await breaking()
    t.equal(code, 1)
    t.match(stdout, `openapi.yaml from HEAD to the working tree: ${changes.length} breaking, `)
    t.equal(stderr.match(/\n/g)?.length, changes.length, stderr)
    for (const [name, , message] of changes) t.match(stderr, message, name)
  }
})

const narrower = contract.replace(long, short)

test('changes that break no client are counted, and the exit code is 0', async t => {
  const { folder, git, change, breaking, observed } = repository(t, narrower)
  change(contract)
  git('commit', '--quiet', '--all', '--message', 'x')
  const none = 'openapi.yaml from HEAD to the working tree: 0 breaking, 0 other.\n'
  t.strictSame(await breaking(), { code: 0, stdout: none, stderr: '' })
  // A project may decide that such a change does not break its clients.
  writeFileSync(join(folder, 'redocly.yaml'), 'diff: { response-removed: minor }')
  let text = contract.replace(/^ {8}'400':\n.*unexpected error.*\n(?: {10}.*\n)+/m, '')
  for (const edit of compatibleChanges) text = edit(text)
  change(text)
  const counted = /: 0 breaking, [1-9]\d* other\.\n$/
  t.match(await observed(), { code: 0, stdout: counted, stderr: /^$/ })
})

test('a line has the place in the version that shows the change', async t => {
  const { git, change, observed } = repository(t)
  const line = (text: string, part: string) => text.slice(0, text.indexOf(part)).split('\n').length
  const withoutConflict = narrower.replace(conflict, '')
  const formatAt = (text: string) => `openapi.yaml:${line(text, short)}:23 ${pointer} \``
  const pointer = '#/components/schemas/NewPlant/allOf/1/properties/id/format'
  change(narrower)
  git('commit', '--quiet', '--all', '--message', 'x')
  change(withoutConflict)
  const { code, stdout, stderr } = await observed('v1', 'HEAD')
  t.equal(code, 1)
  t.match(stdout, 'openapi.yaml from v1 to HEAD: 1 breaking')
  t.match(stderr, `HEAD:${formatAt(narrower)}`)
  const later = await observed('v1')
  t.match(later.stdout, 'openapi.yaml from v1 to the working tree: 2 breaking')
  t.match(later.stderr, new RegExp(`^${formatAt(withoutConflict)}`, 'm'))
  const place = `v1:openapi.yaml:${line(contract, 'description: Another plant')}:11`
  t.match(later.stderr, `${place} #/paths/~1plants/post/responses/409 Response`)
})

test('a command line that names nothing to compare is refused with exit code 2', async t => {
  const { folder, git, change, breaking, observed } = repository(t)
  const refused = async (message: RegExp, args: string[] = [], run = breaking) => {
    const { code, stdout, stderr } = await run(...args)
    t.strictSame({ code, stdout }, { code: 2, stdout: '' })
    t.match(stderr, message)
  }
  const unknown = /^v9 is no revision of this repository\. Name a commit, .*HEAD~1\.\n$/
  await refused(unknown, ['v9'], observed)
  const missing = /^There is no x\.yaml in HEAD\. Correct the revision, or --contract FILE\.\n$/
  await refused(missing, ['--contract', 'x.yaml'], observed)
  const surplus = /^Unexpected argument 'v3'\. This command takes at most 2; see --help\.\n$/
  await refused(surplus, ['v1', 'v2', 'v3'], observed)
  await refused(/^There is no option --foo\. /, ['--foo'])
  writeFileSync(join(folder, 'redocly.yaml'), 'rules: [')
  const failed = /^Redocly could not compare the contracts: Failed to load the configuration file/
  await refused(failed, [], observed)
  change(contract.replace('openapi: 3.1.0', 'openapi: 4.0.3'))
  const version = 'openapi\\.yaml:3:1 #\\/openapi Not supported'
  await refused(new RegExp(`^The contract in the working tree is not valid\\..*\\n${version}`))
  change('a: [')
  git('commit', '--quiet', '--all', '--message', 'x')
  const syntax = /^The contract in HEAD is not valid\..*\nopenapi\.yaml:\d+:\d+ .*\n$/
  await refused(syntax, [], observed)
})
