import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { NewPlant } from '../../../src/plants/plant-store.ts'
import { openStore } from '../../../src/stores/open.ts'
import { holdProcess } from '../../fixtures/leash.ts'
import { inParallel } from '../../fixtures/parallel.ts'
import { all } from '../../fixtures/plant-store-suite.ts'
import { startPostgres } from '../../fixtures/postgres.ts'
import { type Launch, observed, withoutCoverage } from '../../fixtures/service.ts'

const test = inParallel(t, 3)

interface Result { code: number | string, stdout: string, stderr: string }

interface Copy {
  child: ChildProcessWithoutNullStreams
  /** `code` is the exit code, or the signal that ended the process. */
  ended: Promise<Result>
  /** Resolves once standard error matches. */
  waitForStderr: (pattern: RegExp) => Promise<void>
}

interface Start extends Pick<Launch, 'coverage'> { nodeArgs?: string[] }

function start (args: string[], { nodeArgs = [], coverage = false }: Start = {}): Copy {
  const node = coverage ? [process.execPath] : [...withoutCoverage, process.execPath]
  const [program = '', ...more] = [...node, ...nodeArgs, 'src/main.ts', 'copy', ...args]
  const child = holdProcess(spawn(program, more))
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', text => { stdout += text })
  child.stderr.setEncoding('utf8').on('data', text => { stderr += text })
  const ended = once(child, 'close').then(([code, signal]) => {
    // A busy machine may let it wait for a database.
    return {
      code: code ?? signal,
      stdout,
      stderr: stderr.replace(/^(?:Checking|Waiting for) the .*\n/gm, '')
    }
  })
  const waitForStderr = async (pattern: RegExp) => {
    while (!pattern.test(stderr)) await once(child.stderr, 'data')
  }
  return { child, ended, waitForStderr }
}

async function copy (args: string[], input = '', launch: Start = {}): Promise<Result> {
  const { child, ended } = start(args, launch)
  child.stdin.end(input)
  return ended
}

const sqliteUrl = (folder: string, file = 'a.db'): string => `sqlite:${join(folder, file)}`

async function plantsIn (url: string): Promise<NewPlant[]> {
  const store = await openStore(url, { maxQueue: 1 })
  try {
    return await all(store)
  } finally {
    await store.close()
  }
}

const fourPlants = [
  '{"id":-9223372036854775808,"name":"least"}',
  '{"id":-1,"name":"","tag":""}',
  '{"id":9007199254740993,"name":"\\\\ \\" 🌵 \\n","tag":"日本"}',
  '{"id":9223372036854775807,"name":"most","tag":"x"}'
].map(line => `${line}\n`).join('')
/** More plants than a chunk or a page holds. */
const manyPlants = Array.from(
  { length: 12_000 }, (_, id) => `{"id":${id},"name":"plant ${id}"}\n`
).join('')

test('copy moves plants from any kind of place to any other without changing them', async t => {
  const folder = t.testdir({ 'plants.ndjson': fourPlants })
  const postgres = await (await startPostgres(t)).database()
  const places = [
    join(folder, 'plants.ndjson'),
    sqliteUrl(folder),
    postgres,
    join(folder, 'b.ndjson'),
    sqliteUrl(folder, 'c.db')
  ]
  const summary = /^4 added, 0 unchanged, 0 in conflict, 0 bad lines, in [\d.]+ s \([\d,]+\/s\)\n$/m
  for (const [index, to] of places.slice(1).entries()) {
    const from = places[index] as string
    t.match(await copy([from, to], '', observed), { code: 0, stdout: '', stderr: summary }, to)
  }
  t.equal(readFileSync(join(folder, 'b.ndjson'), 'utf8'), fourPlants)
  t.match(await copy([postgres, '-'], '', observed), { code: 0, stdout: fourPlants })
  t.match(await copy(['-', 'memory:'], fourPlants, observed), { code: 0, stderr: /^4 added/m })
  t.match(await copy([postgres, sqliteUrl(folder)]), { code: 0, stderr: /^0 added, 4 unchanged/m })
})

test('copy keeps every plant and the order when there is more than one chunk', async t => {
  const folder = t.testdir({ 'many.ndjson': manyPlants })
  const result = await copy([join(folder, 'many.ndjson'), sqliteUrl(folder)])
  t.match(result, { code: 0, stderr: /^12,000 added/m })
  t.match(await copy([sqliteUrl(folder), '-']), { code: 0, stdout: manyPlants })
})

test('copy reports bad lines and conflicts, copies the rest and exits with code 1', async t => {
  const folder = t.testdir()
  const to = sqliteUrl(folder)
  await copy(['-', to], '{"id":1,"name":"fern"}\n{"id":9007199254740993,"name":"ivy"}\n')
  const input = [
    '\ufeff{"id":2,"name":"first"}\r',
    '',
    'no JSON',
    '{"id":1,"name":"other"}',
    '{"id":"3","name":"x"}',
    '{"id":9007199254740993,"name":"other"}',
    '[]',
    `{"id":4,"name":"${'x'.repeat(33 * 1024 * 1024)}"}`,
    '{"id":5,"name":"a\\u0000b"}',
    '{"id":6,"name":"last","not a member":1}',
    '{"id":6,"name":"last","not a member":2}',
    `{"id":6,"name":"last",${Array.from({ length: 20 }, (_, index) => `"other${index}":1`).join()}}`
  ].join('\n')
  const { code, stderr } = await copy(['-', to], input, observed)
  t.equal(code, 1)
  const isProgress = (line: string) => /plants?, /.test(line)
  const withoutTime = (line: string) => line.replace(/, in .*/, '')
  t.strictSame(stderr.split('\n').filter(line => !isProgress(line)).map(withoutTime), [
    "line 3: The line is not valid JSON: unexpected 'n' at column 1.",
    'line 5: "id" must be an integer from -9223372036854775808 to 9223372036854775807, not a string: remove its quotes.',
    'line 7: The line must be an object, not an array.',
    'line 8: The line is longer than 33554432 bytes.',
    'line 9: "name" must not contain the character U+0000.',
    ...['not a member', ...Array.from({ length: 9 }, (_, index) => `other${index}`)].map(member => {
      return `The copy leaves out the member "${member}", which the contract does not have.`
    }),
    'conflict: another plant has the id 1; the stored plant does not change',
    'conflict: another plant has the id 9007199254740993; the stored plant does not change',
    '2 added, 2 unchanged, 2 in conflict, 5 bad lines',
    ''
  ])
  t.strictSame(await plantsIn(to), [
    { id: 1n, name: 'fern' },
    { id: 2n, name: 'first' },
    { id: 6n, name: 'last' },
    { id: 9007199254740993n, name: 'ivy' }
  ])
})

test('a line that is too long is a bad line, also at the end of the input', async t => {
  const tooLong = 'x'.repeat(33 * 1024 * 1024)
  const lines = `${tooLong}\n{"id":1,"name":"x"}\n${tooLong}`
  const result = await copy(['-', sqliteUrl(t.testdir())], lines, observed)
  t.match(result, { code: 1, stderr: /line 1: .* longer [^]*line 3: .* longer [^]*1 added/ })
})

test('copy fails when the disk is full before the last bytes of its output', async t => {
  const folder = t.testdir({ 'plants.ndjson': manyPlants })
  const output = openSync(join(folder, 'output'), 'w')
  // The limit of 100 kB for each file is a full disk. The modules of tap would end the process at
  // SIGXFSZ.
  const limited = [
    '-u', 'NODE_OPTIONS', 'prlimit', '--fsize=100000:unlimited', process.execPath,
    'src/main.ts', 'copy'
  ]
  const child = spawn(
    'env', [...limited, join(folder, 'plants.ndjson'), '-'], { stdio: ['ignore', output, 'pipe'] }
  )
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', text => { stderr += text })
  const [code] = await once(child, 'close')
  closeSync(output)
  t.equal(code, 1)
  t.match(stderr, /^The output cannot be written: EFBIG: file too large, write\.$/m)
})

test('a copy to a file fails without a file when the disk is full before its last bytes', async t => {
  for (const plants of ['{"id":1,"name":"x"}\n'.repeat(1), manyPlants]) {
    const folder = t.testdir({ 'plants.ndjson': plants })
    const limited = [
      '-u', 'NODE_OPTIONS', 'prlimit', '--fsize=10:unlimited', process.execPath,
      'src/main.ts', 'copy'
    ]
    const files = [join(folder, 'plants.ndjson'), join(folder, 'out.ndjson')]
    const failed = await promisify(execFile)('env', [...limited, ...files]).catch(error => error)
    t.match(failed, { code: 1, stderr: /EFBIG: file too large/ })
    t.strictSame(readdirSync(folder), ['plants.ndjson'])
  }
})

test('of two copies to one file the second fails', async t => {
  const output = join(t.testdir(), 'out.ndjson')
  const [first, second] = [start(['-', output]), start(['-', output], observed)]
  for (const { child } of [first, second]) child.stdin.write('{"id":1,"name":"first"}\nbad\n')
  await Promise.all([first.waitForStderr(/line 2/), second.waitForStderr(/line 2/)])
  first.child.stdin.end()
  t.match(await first.ended, { code: 1, stderr: /1 added/ })
  second.child.stdin.end('{"id":2,"name":"second"}\n')
  t.match(await second.ended, { code: 1, stderr: / already exists: name another file or remove it\n$/ })
  t.equal(readFileSync(output, 'utf8'), '{"id":1,"name":"first"}\n')
})

test('copy writes all plants to a file as its standard output', async t => {
  const folder = t.testdir({ 'plants.ndjson': manyPlants })
  const output = openSync(join(folder, 'output'), 'w')
  const child = spawn(
    process.execPath,
    ['src/main.ts', 'copy', join(folder, 'plants.ndjson'), '-'],
    { stdio: ['ignore', output, 'ignore'] }
  )
  t.strictSame(await once(child, 'close'), [0, null])
  closeSync(output)
  t.equal(readFileSync(join(folder, 'output'), 'utf8'), manyPlants)
})

test('--fail-fast stops at the first bad line or conflict and leaves no partial file', async t => {
  const folder = t.testdir({ 'in.ndjson': 'bad\n{"id":2,"name":"x"}\n' })
  const [input, output] = [join(folder, 'in.ndjson'), join(folder, 'out.ndjson')]
  const result = await copy(['--fail-fast', input, sqliteUrl(folder)], '', observed)
  t.match(result, { code: 1, stderr: /^line 1: [^]*^0 added.* 1 bad lines/m })
  t.strictSame(await plantsIn(sqliteUrl(folder)), [])
  t.match(await copy(['--fail-fast', input, output], '', observed), { code: 1 })
  t.strictSame(readdirSync(folder).filter(name => name.startsWith('out')), [])
})

test('a second run completes a copy that was killed', async t => {
  const folder = t.testdir()
  const lines = Array.from({ length: 60_000 }, (_, id) => `{"id":${id},"name":"x"}\n`)
  const to = sqliteUrl(folder)
  const { child, ended } = start(['-', to])
  child.stdin.on('error', () => {})
  // It waits for the others when it is killed.
  child.stdin.write(lines.slice(0, 40_000).join(''))
  // The write-ahead log then holds several chunks.
  const logSize = () => statSync(join(folder, 'a.db-wal'), { throwIfNoEntry: false })?.size ?? 0
  while (logSize() < 3e5) await new Promise(resolve => setTimeout(resolve, 5))
  child.kill('SIGKILL')
  t.match(await ended, { code: 'SIGKILL' })
  const copied = (await plantsIn(to)).length
  t.ok(copied > 0 && copied <= 40_000, `killed after ${copied} plants`)
  const source = lines.join('')
  t.match(await copy(['-', to], source), { code: 0, stderr: /, 0 in conflict, 0 bad lines/ })
  t.equal((await copy([to, '-'])).stdout, source)
})

for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
  t.test(`${signal} stops the copy between two plants and prints how to complete it`, async t => {
    const folder = t.testdir()
    const { child, ended, waitForStderr } = start(['-', join(folder, 'out.ndjson')], observed)
    child.stdin.write('{"id":1,"name":"x"}\nbad\n')
    await waitForStderr(/line 2/)
    child.kill(signal)
    t.match(await ended, { code, stderr: /Interrupted: the copy is not complete\. Run it again\.\n$/ })
    t.strictSame(readdirSync(folder), [])
  })
}

test('without a terminal copy prints its progress in lines', async t => {
  const { child, ended, waitForStderr } = start(['-', sqliteUrl(t.testdir())], observed)
  child.stdin.write('{"id":1,"name":"x"}\n')
  await waitForStderr(/^0 plants, 0\/s$/m)
  child.stdin.end()
  t.match(await ended, { code: 0, stderr: /1 added/ })
})

test('on a terminal copy shows the rate, and a bar with the time left when it knows the total', async t => {
  const folder = t.testdir({ 'many.ndjson': manyPlants })
  const isTerminal = ['--import', 'data:text/javascript,process.stderr.isTTY = true']
  const terminal = { ...observed, nodeArgs: isTerminal }
  const known = start([join(folder, 'many.ndjson'), sqliteUrl(folder)], terminal)
  t.match(
    await known.ended, { code: 0, stderr: /█+ 100 % \| 12,000 plants \| [\d,]+\/s \| 0s left/ }
  )
  const unknown = start(['-', 'memory:'], terminal)
  unknown.child.stdin.end(manyPlants)
  t.match(await unknown.ended, { code: 0, stderr: /12,000 plants \| [\d,]+\/s/ })
})

test('without a terminal the progress of a file is in percent', async t => {
  const fastTimers = 'data:text/javascript,const set = setInterval; ' +
    'globalThis.setInterval = (call, ms) => set(call, ms / 2000)'
  const file = join(t.testdir({ 'many.ndjson': manyPlants }), 'many.ndjson')
  const { ended } = start([file, 'memory:'], { ...observed, nodeArgs: ['--import', fastTimers] })
  t.match(await ended, { code: 0, stderr: /^[\d,]+ plants, [\d,]+\/s, \d+ %$/m })
})

test('a copy that cannot start prints one sentence without a stack or a password', async t => {
  const folder = t.testdir({
    'there.ndjson': '',
    database: 'SQLite format 3\0\x10',
    'garbage.db': 'x'.repeat(8000),
    'plants.dump': 'PGDMP\x01\x0f',
    'plants.gz': gzipSync('{"id":1,"name":"fern"}\n')
  })
  const existing = join(folder, 'there.ndjson')
  // The path of a socket is short.
  const short = mkdtempSync(join(tmpdir(), 'copy-'))
  const socket = join(short, 'socket')
  const server = createServer().listen(socket)
  t.teardown(() => {
    server.close()
    rmSync(short, { recursive: true })
  })
  await once(server, 'listening')
  const mistakes: Array<[string[], RegExp]> = [
    [[], /^The copy needs FROM and TO, and got 0 arguments\.\nUsage: npm run copy/],
    [['a'], /^The copy needs FROM and TO, and got 1 argument\.\nUsage: npm run copy/],
    [['a', 'b', 'c'], /^The copy needs FROM and TO, and got 3 arguments\.\nUsage: npm run copy/],
    [['--force', 'a', 'b'], /^There is no option --force\. --help lists the options\.\n$/],
    [['--fail-fast=hunter2', 'a', 'b'], /^--fail-fast takes no value\.\n$/],
    [[folder, '-'], / is a folder: name a file in it\.\n$/],
    [[sqliteUrl(folder, 'none.db'), '-'], /^There is no database .*none\.db: correct the path\.\n$/],
    [[join(folder, 'none.ndjson'), '-'], /^There is no file \S+none\.ndjson; a store is sqlite:PATH, .*\.\n$/],
    // Nobody can open a socket as a file; a store takes longer to open.
    [[socket, sqliteUrl(folder)], /^ENXIO: no such device or address, open '\S+socket'\n$/],
    [
      ['postgress://u:SECRET@h/db', '-'],
      /^There is no store for "postgress:"\. Use sqlite:PATH.*\.\n$/
    ],
    [[join(folder, 'database'), '-'], /^\S+database is a SQLite database: write sqlite:\/\S+\.\n$/],
    [[join(folder, 'plants.dump'), '-'], /^\S+dump is a dump of PostgreSQL: restore it by pg_restore\.\n$/],
    [[join(folder, 'plants.gz'), '-'], /^\S+gz is compressed: decompress it, or pass its content by a pipe\.\n$/],
    [['postgres://u:SECRET@h:x/db', '-'], /^FROM has a host or port that is not valid\.\n$/],
    [['postgres://127.0.0.1:1/d', '-'], /127\.0\.0\.1:1\b.* cannot be used: nothing listens there; start PostgreSQL, or correct FROM\.\n$/],
    [['DATABASE_URL=postgres://u:SECRET@h/db', '-'], /^FROM has an address or a password beside other text: use sqlite:PATH, .*\.\n$/],
    [['-', 'new.db'], /^new\.db has the name of a database: write sqlite:new\.db, or .*\.\n$/],
    [['-', existing], /there\.ndjson already exists: name another file or remove it\n$/],
    [['-', join(folder, 'none', 'out.ndjson')], /^\S+\/none\/out\.ndjson cannot be written: ENOENT: .*\. Name another file, or see to its folder and disk\.\n$/m],
    [['-', `sqlite:${join(existing, 'a.db')}`], /^The database \S+ cannot be used: EEXIST: [^(]*\n$/],
    [[`sqlite:${join(existing, 'a.db')}`, '-'], /^The database \S+ cannot be used: EEXIST: [^(]*\n$/],
    [[join(existing, 'a.ndjson'), '-'], /^ENOTDIR: .*there\.ndjson\/a\.ndjson'\n$/],
    [[sqliteUrl(folder, 'garbage.db'), '-'], /^The database \S+ cannot be used: file is not a database; [^(]*\n$/]
  ]
  // Other spellings, in the same code.
  const unknown: typeof mistakes = [
    [['-', 'postgres://u:SECRET@h/d?sslmod=a'], /^TO has the parameter "sslmod" that is unknown\./],
    [['-', 'sqlite:$HOME/a.db'], /^TO has a path with \$: write the path without variables\.\n$/],
    [['-', 'postgres:plants:SECRET@h'], /^There is no store for "postgres:"/],
    [['-', 'postgresql//u:SECRET@h/db'], /^There is no store for "postgresql\/\/u:"/],
    [['-', 'POSTGRES://u:SECRET@h/db'], /^There is no store for "POSTGRES:"/],
    [['-', 'mysql2://u:SECRET@h/db'], /^There is no store for "mysql2:"/],
    [[' postgres://u:SECRET@h/db', '-'], /^There is no store for " postgres:"/],
    [['//u:SECRET@h/db', '-'], /^There is no store for "\/\/u:"/],
    [['"postgres://u:SECRET@h/db"', '-'], /^FROM has an address /],
    [['-', 'psql postgres://u:SECRET@h/db'], /^TO has an address /],
    [['-', 'host=h password = SECRET'], /^TO has an address /],
    [['-', 'sqllite:plants.db'], /^There is no store for "sqllite:"/]
  ]
  for (const [args, message] of [...mistakes, ...unknown]) {
    const coverage = !unknown.some(([known]) => known === args)
    const { code, stdout, stderr } = await copy(args, '{"id":1,"name":"x"}\n', { coverage })
    const isMistake = /^(?:The copy needs|There is no|--|FROM|TO)|is a (?:folder|dump)|is compressed|sqlite:\S/.test(stderr)
    t.equal(code, isMistake ? 2 : 1, args.join(' '))
    t.match(stderr, message)
    t.notMatch(stderr, /\n {4}at |SECRET/, 'no stack, no password')
    t.equal(stdout, '')
  }
  t.equal(existsSync(join(folder, 'none.db')), false)
})

test('copy says that it is not complete when the reader of its output ends, or when its output fails', async t => {
  const folder = t.testdir({ 'many.ndjson': manyPlants })
  const input = join(folder, 'many.ndjson')
  const { child, ended } = start([input, '-'], observed)
  child.stdout.once('data', () => child.stdout.destroy())
  t.match(
    await ended,
    { code: 141, stderr: /^The reader of the output has ended, so the copy is not complete\.$/m }
  )
  const toFullDisk = `exec ${process.execPath} src/main.ts copy ${input} - > /dev/full`
  const failed = await promisify(execFile)('sh', ['-c', toFullDisk]).catch(error => error)
  t.match(failed, { code: 1, stderr: /The output cannot be written: ENOSPC.*\.\n/ })
})

test('on a full disk copy says what cannot be written, and nothing for callers of the service', async t => {
  const folder = t.testdir({ 'many.ndjson': manyPlants })
  const input = join(folder, 'many.ndjson')
  const output = join(folder, 'out.ndjson')
  for (const [to, message] of [
    [output, /out\.ndjson cannot be written: EFBIG: .*\. Name another file, or see to its folder and disk\.\n$/],
    [sqliteUrl(folder), /^the database \S+a\.db cannot be used: disk I\/O error; look at the space .*\n$/m]
  ] as const) {
    const command = ['-c', 'ulimit -f 150; exec "$@"', 'sh', process.execPath, 'src/main.ts', 'copy', input, to]
    const [program = '', ...args] = [...withoutCoverage, 'sh', ...command]
    const { code, stderr } = await promisify(execFile)(program, args).catch(error => error)
    t.equal(code, 1)
    t.match(stderr, message)
    t.notMatch(stderr, 'Sending')
  }
  t.equal(existsSync(output), false)
})

test('copy says why its store fails in the middle', async t => {
  const folder = t.testdir()
  const { child, ended, waitForStderr } = start(['-', sqliteUrl(folder)], observed)
  t.teardown(() => child.kill())
  child.stdin.write('bad\n')
  await waitForStderr(/line 1/)
  const database = new DatabaseSync(join(folder, 'a.db'), { timeout: 5000 })
  database.exec('DROP TABLE plants')
  database.close()
  child.stdin.end('{"id":1,"name":"x"}\n')
  t.match(await ended, { code: 1, stderr: /^the database \S+a\.db cannot be used: no such table: .*\n$/m })
})

test('copy keeps large plants unchanged when their text exceeds a chunk', async t => {
  const to = sqliteUrl(t.testdir())
  const tag = 'x'.repeat(60_000)
  const large = Array.from(
    { length: 200 }, (_, id) => `{"id":${id},"name":"x","tag":"${tag}"}\n`
  ).join('')
  t.match(await copy(['-', to], large, observed), { code: 0, stderr: /^200 added/m })
  t.equal((await copy([to, '-'])).stdout, large)
})
