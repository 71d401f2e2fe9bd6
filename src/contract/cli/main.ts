#!/usr/bin/env node
// The command fastify-openapi-contract. It ends with 0, with 1 if --check finds a difference, and
// with 2 if it cannot do its work. Imports come one by one: an old Node fails at the first.

// The reader of the output may end first, as in `| head`: the files are written all the same.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
try {
  await import('../node-version.ts')
  const { run } = await import('./run.ts')
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  const { describeFailure } = await import('./failure.ts')
  console.error(describeFailure(error as Error))
  process.exitCode = 2
}
