// npm run breaking -- [OLD [NEW]]: the changes of the contract that can break a client, a line each, with exit code 1.
// OLD and NEW are git revisions; without them it compares HEAD with the working tree. Redocly decides what can break.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { readContract } from '../src/contract/generate/read.ts'
import { readArguments, refuse } from './options.ts'
import { unpackRevision } from './revision.ts'

interface Version { name: string, folder: string }
interface Place { file: string, line: number, col: number, pointer: string }
interface Verdict { ruleId: string, impact: 'major' | 'minor' | 'patch', message: string, location: Place }
/** The part of Redocly's report that is read here. */
interface Report { summary: { minor: number, patch: number }, changes: Array<{ verdicts: Verdict[] }> }

const redocly = createRequire(import.meta.url).resolve('@redocly/cli/bin/cli.js')
/** Without these, Redocly reports its use and looks for updates. */
const offline = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

const { values: { contract }, positionals: [oldName = 'HEAD', newName] } = readArguments({
  contract: { type: 'string', default: 'openapi.yaml' }
}, 2)
const temporary = mkdtempSync(join(tmpdir(), 'breaking-'))
process.once('exit', () => rmSync(temporary, { recursive: true }))

const before = revision(oldName, 'old')
const after = newName === undefined ? { name: 'the working tree', folder: resolve('.') } : revision(newName, 'new')
const { summary, changes } = compare(await contractOf(before), await contractOf(after))
const breaking = changes.flatMap(({ verdicts }) => verdicts).filter(({ impact }) => impact === 'major')
for (const { location, message, ruleId } of breaking) console.error(`${describe(location)} ${message} (${ruleId})`)
const others = summary.minor + summary.patch
console.log(`${contract} from ${before.name} to ${after.name}: ${breaking.length} breaking, ${others} other changes.`)
process.exitCode = breaking.length === 0 ? 0 : 1

function revision (name: string, folder: string): Version {
  const version = { name, folder: join(temporary, folder) }
  if (unpackRevision(name, '.', version.folder)) return version
  return refuse(`${name} is no revision of this repository. Name a commit, a branch or a tag, for example HEAD~1.`)
}

/** The path of a version's contract; a missing or invalid contract ends the process. */
async function contractOf ({ name, folder }: Version): Promise<string> {
  const file = join(folder, contract)
  if (!existsSync(file)) refuse(`There is no ${contract} in ${name}. Use another revision, or --contract FILE.`)
  try {
    await readContract(file)
    return file
  } catch (error) {
    const findings = (error as Error).message.replaceAll(relative('', file), contract)
    return refuse(`The contract in ${name} is not valid. Correct it, or use another revision.\n${findings}`)
  }
}

function compare (older: string, newer: string): Report {
  const args = [redocly, 'diff', older, newer, '--format', 'json']
  const env = { ...process.env, ...offline }
  const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8', maxBuffer: Infinity })
  if (stdout === '') refuse(`Redocly could not compare the contracts: ${stderr.trim()}`)
  return JSON.parse(stdout) as Report
}

function describe ({ file, line, col, pointer }: Place): string {
  const isOld = resolve(file).startsWith(before.folder)
  const { name, folder } = isOld ? before : after
  const prefix = isOld || newName !== undefined ? `${name}:` : ''
  return `${prefix}${relative(folder, file)}:${line}:${col} ${pointer}`
}
