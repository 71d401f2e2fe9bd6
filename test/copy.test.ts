import { execFile, spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { NewPlant } from '../src/plants/plant-store.ts'
import { openStore } from '../src/stores/open.ts'
import { all } from './fixtures/plant-store-suite.ts'
import { startPostgres } from './fixtures/postgres.ts'

interface Copy { child: ChildProcessWithoutNullStreams, ended: Promise<{ code: number | string, stdout: string, stderr: string }>, told: (words: RegExp) => Promise<void> }

function start (args: string[], nodeArgs: string[] = []): Copy {
  const child = spawn(process.execPath, [...nodeArgs, 'src/copy.ts', ...args])
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', text => { stdout += text })
  child.stderr.setEncoding('utf8').on('data', text => { stderr += text })
  const ended = once(child, 'close').then(([code, signal]) => ({ code: code ?? signal, stdout, stderr }))
  const told = async (words: RegExp) => { while (!words.test(stderr)) await once(child.stderr, 'data') }
  return { child, ended, told }
}

async function copy (args: string[], input = ''): Promise<{ code: number | string, stdout: string, stderr: string }> {
  const { child, ended } = start(args)
  child.stdin.end(input)
  return ended
}

async function plantsIn (url: string): Promise<NewPlant[]> {
  const store = await openStore(url, { maxQueue: 1 })
  try {
    return await all(store)
  } finally {
    await store.close()
  }
}

const lines = [
  '{"id":-9223372036854775808,"name":"least"}',
  '{"id":-1,"name":"","tag":""}',
  '{"id":9007199254740993,"name":"\\\\ \\" 🌵 \\n","tag":"日本"}',
  '{"id":9223372036854775807,"name":"most","tag":"x"}'
].map(line => `${line}\n`).join('')
/** More plants than a chunk holds, and a page. */
const many = Array.from({ length: 12_000 }, (_, id) => `{"id":${id},"name":"plant ${id}"}\n`).join('')

t.test('plants go from any place to any other and come back to the letter', async t => {
  const folder = t.testdir({ 'plants.ndjson': lines })
  const postgres = await (await startPostgres(t)).database()
  const places = [join(folder, 'plants.ndjson'), `sqlite:${join(folder, 'a.db')}`, postgres, join(folder, 'b.ndjson'), `sqlite:${join(folder, 'c.db')}`]
  for (const [index, to] of places.entries()) {
    if (index > 0) t.match(await copy([places[index - 1] as string, to]), { code: 0, stdout: '', stderr: /^4 added, 0 unchanged, 0 in conflict, 0 bad lines, in [\d.]+ s \([\d,]+\/s\)\n$/ }, to)
  }
  t.equal(readFileSync(join(folder, 'b.ndjson'), 'utf8'), lines)
  t.match(await copy([postgres, '-']), { code: 0, stdout: lines })
  t.match(await copy(['-', 'memory:'], lines), { code: 0, stderr: /^4 added/ })
  t.match(await copy([postgres, `sqlite:${join(folder, 'a.db')}`]), { code: 0, stderr: /^0 added, 4 unchanged/ })
})

t.test('more than a chunk is copied whole, and in order', async t => {
  const folder = t.testdir({ 'many.ndjson': many })
  t.match(await copy([join(folder, 'many.ndjson'), `sqlite:${join(folder, 'a.db')}`]), { code: 0, stderr: /^12,000 added/ })
  t.match(await copy([`sqlite:${join(folder, 'a.db')}`, '-']), { code: 0, stdout: many })
})

t.test('bad lines and conflicts are told, the rest is copied, and the exit code says so', async t => {
  const folder = t.testdir()
  const to = `sqlite:${join(folder, 'a.db')}`
  await copy(['-', to], '{"id":1,"name":"fern"}\n{"id":9007199254740993,"name":"ivy"}\n')
  const input = [
    '\ufeff{"id":2,"name":"first"}\r', '', 'no JSON', '{"id":1,"name":"other"}', '{"id":"3","name":"x"}', '{"id":9007199254740993,"name":"other"}', '[]',
    `{"id":4,"name":"${'x'.repeat(33 * 1024 * 1024)}"}`, '{"id":5,"name":"a\\u0000b"}', '{"id":6,"name":"last","other":1}'
  ].join('\n')
  const { code, stderr } = await copy(['-', to], input)
  t.equal(code, 1)
  t.strictSame(stderr.split('\n').filter(line => !/plants?, /.test(line)).map(line => line.replace(/, in .*/, '')), [
    'line 3: The line is not valid JSON: Unexpected token \'o\', "no JSON" is not valid JSON.',
    'line 5: "id" must be an integer from -9223372036854775808 to 9223372036854775807.',
    'line 7: The line must be an object.',
    'line 8: The line is longer than 33554432 bytes.',
    'line 9: "name" must match pattern "^[^\\x00]*$": The name of the plant. Any text without U+0000.',
    'conflict: another plant has the id 1; it stays as it is',
    'conflict: another plant has the id 9007199254740993; it stays as it is',
    '2 added, 0 unchanged, 2 in conflict, 5 bad lines',
    ''
  ])
  t.strictSame(await plantsIn(to), [{ id: 1n, name: 'fern' }, { id: 2n, name: 'first' }, { id: 6n, name: 'last' }, { id: 9007199254740993n, name: 'ivy' }])
})

t.test('a long line in pieces, and one at the end, are bad lines too', async t => {
  const folder = t.testdir()
  const long = 'x'.repeat(33 * 1024 * 1024)
  t.match(await copy(['-', `sqlite:${join(folder, 'a.db')}`], `${long}\n{"id":1,"name":"x"}\n${long}`), { code: 1, stderr: /line 1: .* longer [^]*line 3: .* longer [^]*1 added/ })
})

t.test('--fail-fast stops at the first bad line or conflict, and a file is then not left half', async t => {
  const folder = t.testdir({ 'in.ndjson': 'bad\n{"id":2,"name":"x"}\n' })
  const to = `sqlite:${join(folder, 'a.db')}`
  t.match(await copy(['--fail-fast', join(folder, 'in.ndjson'), to]), { code: 1, stderr: /^line 1: .*\n0 added.* 1 bad lines/ })
  t.strictSame(await plantsIn(to), [])
  t.match(await copy(['--fail-fast', join(folder, 'in.ndjson'), join(folder, 'out.ndjson')]), { code: 1 })
  t.strictSame([existsSync(join(folder, 'out.ndjson')), existsSync(join(folder, 'out.ndjson.partial'))], [false, false])
})

t.test('a copy that is killed is completed by running it again', async t => {
  const folder = t.testdir()
  const source = Array.from({ length: 300_000 }, (_, id) => `{"id":${id},"name":"x"}\n`).join('')
  writeFileSync(join(folder, 'in.ndjson'), source)
  const to = `sqlite:${join(folder, 'a.db')}`
  const { child, ended } = start([join(folder, 'in.ndjson'), to])
  // The log of several chunks.
  const written = () => statSync(join(folder, 'a.db-wal'), { throwIfNoEntry: false })?.size ?? 0
  while (written() < 1e6) await new Promise(resolve => setTimeout(resolve, 5))
  child.kill('SIGKILL')
  t.match(await ended, { code: 'SIGKILL' })
  const kept = (await plantsIn(to)).length
  t.ok(kept > 0 && kept < 300_000, `cut off after ${kept}`)
  t.match(await copy([join(folder, 'in.ndjson'), to]), { code: 0, stderr: /, 0 in conflict, 0 bad lines/ })
  t.equal((await copy([to, '-'])).stdout, source)
})

t.test('an interrupt ends it between two plants, and says how to go on', async t => {
  const folder = t.testdir()
  const { child, ended, told } = start(['-', join(folder, 'out.ndjson')])
  child.stdin.write('{"id":1,"name":"x"}\nbad\n')
  await told(/line 2/)
  child.kill('SIGINT')
  t.match(await ended, { code: 130, stderr: /Interrupted\. Run it again to complete the copy\.\n$/ })
  t.strictSame([existsSync(join(folder, 'out.ndjson')), existsSync(join(folder, 'out.ndjson.partial'))], [false, false])
})

t.test('off a terminal a line now and then says how far it is', async t => {
  const folder = t.testdir()
  const { child, ended, told } = start(['-', `sqlite:${join(folder, 'a.db')}`])
  child.stdin.write('{"id":1,"name":"x"}\n')
  await told(/^0 plants, 0\/s$/m)
  child.stdin.end()
  t.match(await ended, { code: 0, stderr: /1 added/ })
})

t.test('on a terminal there is a bar with rate and time left', async t => {
  const folder = t.testdir({ 'many.ndjson': many })
  const terminal = ['--import', 'data:text/javascript,process.stderr.isTTY = true']
  const known = start([join(folder, 'many.ndjson'), `sqlite:${join(folder, 'a.db')}`], terminal)
  t.match(await known.ended, { code: 0, stderr: /█+ 100 % \| 12,000 plants \| [\d,]+\/s \| 0s left/ })
  const unknown = start(['-', 'memory:'], terminal)
  unknown.child.stdin.end(many)
  t.match(await unknown.ended, { code: 0, stderr: /12,000 plants \| [\d,]+\/s/ })
})

t.test('off a terminal, of what has an end, it is told in percent', async t => {
  const { child, ended, told } = start(['test/fixtures/contracts/tree.yaml', '-'], ['--import', 'data:text/javascript,const set = setInterval; globalThis.setInterval = (call, ms) => set(call, ms / 2000)'])
  child.stdin.end()
  await told(/^0 plants, \d+\/s, \d+ %$|bad lines/m)
  t.match(await ended, { code: 1 })
})

t.test('what cannot be copied is told in a sentence', async t => {
  const folder = t.testdir({ 'there.ndjson': '' })
  const mistakes: Array<[string[], RegExp]> = [
    [[], /^Usage: npm run copy/],
    [['a'], /^Usage: npm run copy/],
    [['a', 'b', 'c'], /^Usage: npm run copy/],
    [['--force', 'a', 'b'], /Unknown option '--force'/],
    [[`sqlite:${join(folder, 'none.db')}`, '-'], /^There is no database .*none\.db\.\n$/],
    [[join(folder, 'none.ndjson'), '-'], /^ENOENT: no such file .*none\.ndjson'\n$/],
    [['postgress://u:SECRET@h/db', '-'], /^There is no store of the kind postgress:; FROM and TO are .*\.\n$/],
    [['-', 'POSTGRES://u:SECRET@h/db'], /^There is no store of the kind POSTGRES:/],
    [['-', join(folder, 'there.ndjson')], /there\.ndjson is there already: name another file, or remove it\n$/],
    [['-', join(folder, 'none', 'out.ndjson')], /ENOENT: no such file or directory/],
    [['-', `sqlite:${join(folder, 'there.ndjson', 'a.db')}`], /^The database .* cannot be used: .* \(.*\)\n$/]
  ]
  for (const [args, message] of mistakes) {
    const { code, stdout, stderr } = await copy(args, '{"id":1,"name":"x"}\n')
    t.equal(code, 1, args.join(' '))
    t.match(stderr, message)
    t.notMatch(stderr, /\n {4}at |SECRET/, 'no stack, no password')
    t.equal(stdout, '')
  }
  t.equal(existsSync(join(folder, 'none.db')), false)
})

t.test('whoever reads the output may stop, and one that cannot be written is told', async t => {
  const folder = t.testdir({ 'many.ndjson': many })
  const { child, ended } = start([join(folder, 'many.ndjson'), '-'])
  child.stdout.once('data', () => child.stdout.destroy())
  t.match(await ended, { code: 0 })
  t.match(await promisify(execFile)('sh', ['-c', `exec ${process.execPath} src/copy.ts ${join(folder, 'many.ndjson')} - > /dev/full`]).catch(error => error), { code: 1, stderr: /The output cannot be written: ENOSPC.*\.\n/ })
})

t.test('large plants go in small chunks', async t => {
  const folder = t.testdir()
  const large = Array.from({ length: 200 }, (_, id) => `{"id":${id},"name":"x","tag":"${'x'.repeat(60_000)}"}\n`).join('')
  t.match(await copy(['-', `sqlite:${join(folder, 'a.db')}`], large), { code: 0, stderr: /^200 added/ })
  t.equal((await copy([`sqlite:${join(folder, 'a.db')}`, '-'])).stdout, large)
})
