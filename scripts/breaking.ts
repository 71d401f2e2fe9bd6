// npm run breaking -- [OLD [NEW]]: the changes of the contract that can break a client, a line
// each, with exit code 1. OLD and NEW are git revisions; without them it compares HEAD with the
// working tree. --contract names the file; overlays do not count. Redocly decides what can break.
import { readContract } from 'fastify-openapi-contract/generate'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { ownPaths } from '../src/service/service-paths.ts'
import { exitWith, readArguments } from './options.ts'
import { unpackRevision } from './revision.ts'

interface Version { name: string, folder: string }
interface Place { file: string, line: number, col: number, pointer: string }
interface Verdict { ruleId: string, impact: string, message: string, location: Place }
/** The part of Redocly's report that is read here. */
interface Report {
  summary: { minor: number, patch: number }
  changes: Array<{ verdicts: Verdict[] }>
}

const { values: { contract }, positionals: [oldName = 'HEAD', newName] } = readArguments({
  contract: { type: 'string', default: 'openapi.yaml' }
}, 2)
const temporary = mkdtempSync(join(tmpdir(), 'breaking-'))
process.once('exit', () => rmSync(temporary, { recursive: true }))

const before = unpack(oldName, 'old')
const after = newName === undefined
  ? { name: 'the working tree', folder: resolve('.') }
  : unpack(newName, 'new')
const { summary, changes } = compare(await checkContract(before), await checkContract(after))
let breaking = 0
for (const { location, impact, message, ruleId } of changes.flatMap(({ verdicts }) => verdicts)) {
  if (impact !== 'major') continue
  breaking++
  console.error(`${describe(location)} ${message} (${ruleId})`)
}
const counts = `${breaking} breaking, ${summary.minor + summary.patch} other`
console.log(`${contract} from ${before.name} to ${after.name}: ${counts}.`)
process.exitCode = breaking === 0 ? 0 : 1

function unpack (name: string, folder: string): Version {
  const version = { name, folder: join(temporary, folder) }
  if (unpackRevision(name, '.', version.folder)) return version
  const hint = 'Name a commit, a branch or a tag, for example HEAD~1.'
  return exitWith(`${name} is no revision of this repository. ${hint}`)
}

/** The path of a version's contract; a missing or invalid contract ends the process. */
async function checkContract ({ name, folder }: Version): Promise<string> {
  const file = join(folder, contract)
  if (!existsSync(file)) {
    exitWith(`There is no ${contract} in ${name}. Correct the revision, or --contract FILE.`)
  }
  try {
    await readContract(file, { ownPaths })
    return file
  } catch (error) {
    const findings = (error as Error).message.replaceAll(relative('', file), contract)
    const hint = 'Correct it, or use another revision.'
    return exitWith(`The contract in ${name} is not valid. ${hint}\n${findings}`)
  }
}

function compare (older: string, newer: string): Report {
  const redocly = createRequire(import.meta.url).resolve('@redocly/cli/bin/cli.js')
  // Otherwise Redocly reports its use and looks for updates.
  const offline = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const env = { ...process.env, ...offline }
  const options = { env, encoding: 'utf8', maxBuffer: Infinity } as const
  const args = [redocly, 'diff', older, newer, '--format', 'json']
  const { stdout, stderr } = spawnSync(process.execPath, args, options)
  if (stdout === '') exitWith(`Redocly could not compare the contracts: ${stderr.trim()}`)
  return JSON.parse(stdout) as Report
}

function describe ({ file, line, col, pointer }: Place): string {
  const isOld = resolve(file).startsWith(before.folder)
  const { name, folder } = isOld ? before : after
  const prefix = isOld || newName !== undefined ? `${name}:` : ''
  return `${prefix}${relative(folder, file)}:${line}:${col} ${pointer}`
}
