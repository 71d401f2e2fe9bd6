import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { StandardOutput } from '../../../src/telemetry/log-output.ts'

const line = `${'x'.repeat(1023)}\n`

/** A pipe with a name, which may lose its reader and get another. */
function makePipe (t: Test, flags = constants.O_NONBLOCK) {
  const path = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [path])
  const openReader = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const reader = openReader()
  const writer = openSync(path, constants.O_WRONLY | flags)
  t.teardown(() => closeSync(writer))
  return { openReader, reader, writer }
}

/** Reads until the text matches. */
async function readUntil (reader: number, pattern: RegExp): Promise<string> {
  let text = ''
  const buffer = Buffer.alloc(65536)
  while (!pattern.test(text)) {
    try {
      text += buffer.toString('utf8', 0, readSync(reader, buffer))
    } catch { /* The pipe is empty. */ }
    await sleep(1)
  }
  return text
}

t.test('lines reach a file in order, and flush() writes the last ones', async t => {
  const path = join(t.testdir(), 'log')
  const fd = openSync(path, 'a')
  t.teardown(() => closeSync(fd))
  const output = new StandardOutput({ fd }, t.fail)
  let written = ''
  for (let number = 0; number < 3; number++) {
    output.write(`first ${number}\n`)
    output.write(`second ${number}\n`)
    written += `first ${number}\nsecond ${number}\n`
    while (readFileSync(path).length < written.length) await sleep(1)
  }
  t.equal(readFileSync(path, 'utf8'), written)
  output.write('last\n')
  output.flush()
  t.match(readFileSync(path, 'utf8'), /second 2\nlast\n$/)
})

t.test('flush() leaves the lines of a write that is under way to it', async t => {
  const path = join(t.testdir(), 'log')
  const fd = openSync(path, 'a')
  t.teardown(() => closeSync(fd))
  const output = new StandardOutput({ fd }, t.fail)
  output.write('first\n')
  await new Promise(resolve => setImmediate(resolve))
  // Another thread writes it; this one does not learn of that before the flush.
  while (readFileSync(path).length === 0) continue
  output.write('second\n')
  output.flush()
  await sleep(50)
  t.equal(readFileSync(path, 'utf8'), 'first\nsecond\n')
})

t.test('a full pipe drops and counts lines beyond the limit; the rest arrives whole', async t => {
  const { reader, writer } = makePipe(t)
  t.teardown(() => closeSync(reader))
  const output = new StandardOutput({ fd: writer }, sentence => output.write(`${sentence}\n`))
  for (let sent = 0; sent < 8; sent++) {
    for (let count = 0; count < 1000; count++) output.write(line)
    await sleep(20)
  }
  const lines = (await readUntil(reader, /dropped because.*\n$/)).trim().split('\n')
  const dropped = Number(/^Log lines dropped .*: (\d+)\.$/.exec(lines.at(-1) ?? '')?.[1])
  t.ok(dropped > 0)
  t.strictSame(lines.slice(0, -1), Array(8000 - dropped).fill(line.trim()))
  output.write('more\n')
  t.equal(await readUntil(reader, /\n$/), 'more\n')
})

t.test('a pipe that gets another reader goes on', async t => {
  const { reader, writer, openReader } = makePipe(t)
  const output = new StandardOutput({ fd: writer }, t.fail)
  closeSync(reader)
  output.write('waits\n')
  await sleep(50)
  const another = openReader()
  t.teardown(() => closeSync(another))
  t.equal(await readUntil(another, /\n$/), 'waits\n')
})

t.test('flush() waits a second for a reader, and then gives up', t => {
  const { reader, writer } = makePipe(t)
  t.teardown(() => closeSync(reader))
  const output = new StandardOutput({ fd: writer }, t.fail)
  for (let count = 0; count < 100; count++) output.write(line)
  let now = 0
  t.intercept(performance, 'now', {
    value () {
      now += 100
      return now
    }
  })
  output.flush()
  t.ok(now > 1000 && now < 1500, `${now} ms`)
  t.end()
})

t.test('flush() tries to write, however late it is', async t => {
  const path = join(t.testdir(), 'log')
  const fd = openSync(path, 'a')
  t.teardown(() => closeSync(fd))
  const output = new StandardOutput({ fd }, t.fail)
  output.write('last\n')
  let now = 0
  t.intercept(performance, 'now', {
    value () {
      now += 5000
      return now
    }
  })
  output.flush()
  t.equal(readFileSync(path, 'utf8'), 'last\n')
})

t.test('a terminal that is stopped does not block', t => {
  // A blocking pipe that nobody reads stands for the terminal.
  const { reader, writer } = makePipe(t, 0)
  t.teardown(() => closeSync(reader))
  const output = new StandardOutput({ fd: writer, isTTY: true }, t.fail)
  for (let count = 0; count < 100; count++) output.write(line)
  output.flush()
  t.end()
})

t.test('a terminal that cannot be opened again is used as it is', t => {
  const output = new StandardOutput({ fd: 99_999, isTTY: true }, t.fail)
  output.write('x\n')
  output.flush()
  t.end()
})
