// What the command prints when it fails.

/** The sentence of an error; of a package that is not installed, how to install it. */
export function describeFailure ({ message, code }: NodeJS.ErrnoException): string {
  const [, name] = /^Cannot find package '([^']+)'/.exec(message) ?? []
  if (code !== 'ERR_MODULE_NOT_FOUND' || name === undefined) return message
  return `The generator needs the package ${name}, which is not installed: ` +
    'npm install --include=optional'
}
