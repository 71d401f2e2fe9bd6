import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createPlantFile } from '../../../src/stores/ndjson.ts'

t.test('a file that a killed process with the same id has left is not in the way', async t => {
  const path = join(t.testdir(), 'plants.ndjson')
  writeFileSync(`${path}.${process.pid}.partial`, '')
  const file = createPlantFile(path)
  await file.write([{ id: 1n, name: 'fern' }])
  await file.end(true)
  t.equal(readFileSync(path, 'utf8'), '{"id":1,"name":"fern"}\n')
})

t.test('a file that was removed while it was written is an error', async t => {
  const folder = t.testdir()
  const file = createPlantFile(join(folder, 'plants.ndjson'))
  await file.write([{ id: 1n, name: 'fern' }])
  for (const name of readdirSync(folder)) rmSync(join(folder, name))
  await t.rejects(file.end(true), { code: 'ENOENT' })
  t.strictSame(readdirSync(folder), [])
})

t.test('every member may be an int64', async t => {
  const path = join(t.testdir(), 'plants.ndjson')
  const file = createPlantFile(path)
  await file.write([Object.assign({ id: 1n, name: 'fern' }, { seeds: 9007199254740993n, lots: [2n] })])
  await file.end(true)
  t.equal(readFileSync(path, 'utf8'), '{"id":1,"name":"fern","seeds":9007199254740993,"lots":[2]}\n')
})
