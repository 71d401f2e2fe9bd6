// What init prints: what the owner of a project does next.
import { compiledFile } from '../generate/emit/import-extension.ts'
import { type Manifest, missingFrom } from './project-files.ts'

export function printMissing (existing: Manifest, wanted: Manifest): void {
  const missing = missingFrom(existing, wanted)
  if (Object.keys(missing).length === 0) return
  console.log(`\nSet in your package.json:\n${JSON.stringify(missing, null, 2)}`)
}

export function printLines (lines: Map<string, string[]>): void {
  if (lines.size > 0) console.log(addLines)
  for (const [file, added] of lines) console.log([`${file}:`, ...added].join('\n'))
}

const addLines = `
Run npm run generate. Then add these lines, or put them in place of those that they change:`

const openPage = 'Then open http://localhost:3000/docs, and write the handlers in src/handlers/.'
const runSources = `\
npm run dev restarts the service after each change of the code. Run beside it, to generate after
each change of the contract: npm run generate -- --watch`
const runCompiled =
  'After each change of the contract or the code: npm run generate && npm run build'

/** @param own the names of scripts that a package.json has in another form */
export function printNext (
  extension: string,
  secrets: string[],
  own: string[],
  generate: string
): void {
  const isCompiled = extension === '.js'
  if (isCompiled) console.log(`\n${importsCompiled}`)
  const main = isCompiled ? compiledFile('src/main.ts') : 'src/main.ts'
  const tests = isCompiled ? compiledFile('src/app.test.ts') : 'test/*.test.ts'
  const test = own.includes('test') ? `node --test ${tests}` : 'npm test'
  const start = own.includes('start') ? `node ${main}` : 'npm start'
  const variables = secrets.map(form => form.includes('=') ? form : `${form}=choose-one`)
  const build = isCompiled ? '\n  npx tsc' : ''
  console.log(`\nNext:\n  npm install${build}\n  ${test}\n  ${[...variables, start].join(' ')}`)
  console.log(openPage)
  console.log(isCompiled ? runCompiled : runSources)
  console.log(`In production run node ${main} itself: npm does not pass SIGTERM on.`)
  if (own.length > 0) console.log(`Your own scripts stay as they are: ${own.join(', ')}.`)
  if (own.includes('generate')) {
    console.log(`For these options, make the script generate "${generate}", and run it.`)
  }
}

export function printAddition (extension: string, secrets: string[]): void {
  if (extension === '.js') console.log(`\n${importsCompiled}`)
  console.log(`
Add to your app, here in a file of src/:
  import { createService } from './service${extension}'
  await app.register(createService(process.env))
Then npm install, and write the handlers in src/handlers/.`)
  if (secrets.length > 0) console.log(`The app needs ${secrets.join(' and ')} in its environment.`)
}

const importsCompiled = `\
Your tsconfig.json does not set allowImportingTsExtensions, so the files import .js, and Node runs
what the compiler makes of them. The option types of yours must have "node".`
