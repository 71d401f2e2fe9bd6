// The files of a git revision, unpacked into a folder.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Unpacks what a revision has in a folder of the repository.
 * @param target the folder to create
 * @returns false when git knows no such revision
 */
export function unpackRevision (name: string, source: string, target: string): boolean {
  const git = (...args: string[]) => spawnSync('git', ['-C', source, ...args], { encoding: 'utf8' })
  const commit = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`)
  if (commit.status !== 0) return false
  mkdirSync(target)
  const archive = join(target, 'revision.tar')
  git('archive', '--output', archive, commit.stdout.trim())
  spawnSync('tar', ['-xf', archive, '-C', target])
  return true
}
