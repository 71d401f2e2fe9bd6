// The compiler that `npm run compile` runs: TypeScript 7. openapi-typescript and the linter need
// the API of the package `typescript`, which has version 5.9 for them.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const manifest = createRequire(import.meta.url).resolve('@typescript/native/package.json')

/** The file that Node runs to compile. */
export const compiler = join(manifest, '../lib/tsc.js')

/** With one thread the compiler takes two thirds of the CPU time, and about the same time. */
export const oneThread = '--singleThreaded'
