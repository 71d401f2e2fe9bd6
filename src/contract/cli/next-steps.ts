// What init prints: what the owner of a project does next.
import { type Manifest, missingFrom } from './project-files.ts'

export function printMissing (existing: Manifest, wanted: Manifest): void {
  const missing = missingFrom(existing, wanted)
  if (Object.keys(missing).length === 0) return
  console.log(`\nAdd to your package.json:\n${JSON.stringify(missing, null, 2)}`)
}

export function printLines (lines: Map<string, string[]>): void {
  if (lines.size > 0) console.log(addLines)
  for (const [file, added] of lines) console.log([`${file}:`, ...added].join('\n'))
}

const addLines = `
Run npm run generate. Then add these lines, or put them in place of those that they change:`

const nextSteps = `Then open http://localhost:3000/docs, and write the handlers in src/handlers/.
npm run dev restarts the service after each change of the code. Run beside it, to generate after
each change of the contract: npm run generate -- --watch
In production run node src/main.ts itself: npm does not pass SIGTERM on.`

/** @param own the names of scripts that a package.json has in another form */
export function printNext (
  extension: string,
  secrets: string[],
  own: string[],
  generate: string
): void {
  if (extension === '.js') console.log(`\n${compileFirst}`)
  const test = own.includes('test') ? 'node --test test/*.test.ts' : 'npm test'
  const start = own.includes('start') ? 'node src/main.ts' : 'npm start'
  const variables = secrets.map(form => form.includes('=') ? form : `${form}=choose-one`)
  console.log(`\nNext:\n  npm install\n  ${test}\n  ${[...variables, start].join(' ')}`)
  console.log(nextSteps)
  if (own.length > 0) console.log(`Your own scripts stay as they are: ${own.join(', ')}.`)
  if (own.includes('generate')) {
    console.log(`For these options, make the script generate "${generate}", and run it.`)
  }
}

export function printAddition (extension: string, secrets: string[]): void {
  console.log(`
Add to your app, here in a file of src/:
  import { createService } from './service${extension}'
  await app.register(createService(process.env))
Then npm install, and write the handlers in src/handlers/.`)
  if (secrets.length > 0) console.log(`The app needs ${secrets.join(' and ')} in its environment.`)
}

const compileFirst = 'Your tsconfig.json does not set allowImportingTsExtensions, so the files ' +
  'import .js: compile them, and start the compiled src/main.js.'
