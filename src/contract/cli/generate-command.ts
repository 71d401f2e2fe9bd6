// fastify-openapi-contract generate: the contract -> the folder of generated files.
import { setFlagsFromString } from 'node:v8'
import { generateCommand, generateOptions, readArguments, requireFile } from './arguments.ts'
import { type GenerateOptions, updateFiles } from '../generate/generate.ts'
import { buildOnChange } from '../generate/watch.ts'
import { describeFailure } from './failure.ts'
import { withWayOut } from './way-out.ts'

/**
 * With --watch it resolves before the first build ends, and the process runs until a signal.
 * @param signal ends the watching in tests
 */
export async function runGenerate (args: string[], signal?: AbortSignal): Promise<number> {
  const { contract = 'openapi.yaml', values, choices } = readArguments(args, generateOptions)
  const { overlay: overlays, out, check, watch } = values
  // Otherwise V8 lets garbage grow to a multiple of what a large contract needs.
  setFlagsFromString('--heap-growing-percent=40')
  if (check && watch) throw new Error('--check and --watch exclude each other.')
  requireFile(contract, 'contract', 'generate')
  for (const file of overlays) requireFile(file, 'overlay', 'generate --overlay')
  const command = `npx ${generateCommand(contract, { ...choices, overlays, out })}`
  const options: GenerateOptions = { contract, overlays, out, check, command, ...choices }
  if (!watch) return await update(options) ? 0 : 1
  console.log(`Watching ${[contract, ...overlays].join(' and ')}. Ctrl-C ends it.`)
  buildOnChange([contract, ...overlays], watchFiles => update(options, watchFiles).catch(error => {
    console.error(describeFailure(error))
    console.error('Waiting for a change.')
  }), signal)
  return 0
}

/** @throws Error with the errors of a contract, and the way out */
async function update (
  options: GenerateOptions,
  onRead?: (files: string[]) => void
): Promise<boolean> {
  try {
    return await updateFiles(options, onRead)
  } catch (error) {
    throw await withWayOut(options.contract, options, error)
  }
}
