// What the command prints when it fails.

const install = 'npm install --include=optional'

/** The sentence of an error; of a package that is not installed, how to install it. */
export function describeFailure ({ message, code }: NodeJS.ErrnoException): string {
  const [, name] = /^Cannot find package '([^']+)'/.exec(message) ?? []
  if (code !== 'ERR_MODULE_NOT_FOUND' || name === undefined) return message
  return `The generator needs the package ${name}, which is not installed: ${install}. ` +
    `If npm runs under a Node older than 22, it leaves the package out: npx -p node@26 ${install}`
}
