// The checkouts whose service a benchmark measures: this one, another folder, or a revision.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { exitWith } from '../options.ts'
import { unpackRevision } from '../revision.ts'

/** Its folder. */
export type Checkout = string

export const ownCheckout: Checkout = resolve(import.meta.dirname, '../..')

/** Runs a file of a checkout with the options for Node that its `npm start` has. */
export function startCommand (checkout: Checkout, file: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { scripts: { start: string } }
  return [process.execPath, ...scripts.start.match(/--\S+/g) ?? [], join(checkout, file)]
}

/**
 * The checkout that a command line names.
 * @param name a folder, or a revision, which is installed in `temporary`
 */
export function checkoutOf (name: string, temporary: string): Checkout {
  if (existsSync(join(name, 'src/main.ts'))) return resolve(name)
  const checkout = join(temporary, 'against')
  if (!unpackRevision(name, ownCheckout, checkout)) {
    exitWith(`--against: ${name} is neither a revision nor the folder of a checkout.`)
  }
  console.error(`installing the packages of ${name}`)
  run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund', '--prefix', checkout])
  return checkout
}

function run (command: string, args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) exitWith(`${command} ${args.join(' ')} failed: ${stderr}`)
}
