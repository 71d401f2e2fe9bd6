// The checkout that `--against` names: its service is measured beside this one.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { exitWith } from '../options.ts'
import { unpackRevision } from '../revision.ts'
import { folder, project } from './harness.ts'

/**
 * Returns the folder of a checkout with its packages.
 * @param name a folder, or a revision, which is installed
 * @param options of npm
 */
export function findCheckout (name: string, ...options: string[]): string {
  if (existsSync(join(name, 'src/main.ts'))) return resolve(name)
  const checkout = join(folder, 'against')
  if (!unpackRevision(name, project, checkout)) {
    exitWith(`--against: ${name} is neither a revision nor the folder of a checkout.`)
  }
  console.error(`installing the packages of ${name}`)
  const args = ['ci', '--no-audit', '--no-fund', '--prefix', checkout, ...options]
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8' })
  if (status !== 0) exitWith(`npm ci in ${checkout} failed: ${stderr}`)
  return checkout
}
