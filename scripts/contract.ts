// Reads the contract: lints and bundles it, and refuses what this service cannot serve.
// openapi-core does the reading, so that each finding, ours included, knows its file, line and JSON pointer.
import { bundle, createConfig, getLineColLocation, lint } from '@redocly/openapi-core'
import type { LocationObject, NormalizedProblem, Oas3Rule, Oas3_1Definition as Description, UserContext } from '@redocly/openapi-core'
import { relative } from 'node:path'
import type { Contract } from '../src/contract/types.ts'
import { createValidator } from '../src/contract/validator.ts'

export type { Description }

/** A contract that was not accepted: one line per finding, each `file:line:column pointer sentence`. */
export class ContractError extends Error {
  readonly findings: string[]
  constructor (findings: string[]) {
    super(findings.join('\n'))
    this.findings = findings
  }
}

/**
 * Reads an OpenAPI 3.1 description and every file that it refers to.
 * @param file path of the description, YAML or JSON
 * @returns the description as one object (references only into itself), and the linter's warnings, a line each
 * @throws ContractError with all findings at once
 */
export async function readContract (file: string): Promise<{ document: Description, warnings: string[] }> {
  const config = await createConfig({
    extends: ['recommended'],
    plugins: [{ id: 'service', rules: { oas3: { supported } } }],
    rules: {
      'operation-operationId': 'error',
      'no-ambiguous-paths': 'error',
      'service/supported': 'error'
    }
  })
  try {
    const problems = await lint({ ref: file, config })
    const errors = problems.filter(problem => problem.severity === 'error')
    if (errors.length > 0) throw new ContractError(errors.map(describe))
    const { bundle: { parsed } } = await bundle({ ref: file, config })
    return { document: parsed as Description, warnings: problems.map(describe) }
  } catch (error) {
    if (error instanceof ContractError) throw error
    // What cannot be parsed at all is thrown, with the place in the message; the rest of it is an excerpt.
    throw new ContractError([`${file}: ${(error as Error).message.split('\n')[0]}`])
  }
}

/**
 * Compiles every schema as the service will, so that what it could not start with does not get that far.
 * @throws ContractError naming each schema that is not valid JSON Schema 2020-12
 */
export function refuseUncompilable (file: string, { operations, schemas }: Contract): void {
  const named = [
    ...Object.keys(schemas).map((name): [string, object] => [`#/components/schemas/${name}`, { $ref: `${name}#` }]),
    ...Object.entries(operations).flatMap(([id, { body, responses }]) => [
      ...body === undefined ? [] : [[`the body of ${id}`, body.schema] as const],
      ...Object.entries(responses).flatMap(([status, { schema }]) => schema === undefined ? [] : [[`the answer ${status} of ${id}`, schema] as const])
    ])
  ]
  const compile = createValidator(schemas)
  const findings = named.flatMap(([name, schema]) => {
    try {
      compile(schema)
      return []
    } catch (error) {
      return [`${file} ${name} cannot be compiled: ${(error as Error).message}`]
    }
  })
  if (findings.length > 0) throw new ContractError([...new Set(findings)])
}

function describe (problem: NormalizedProblem): string {
  const place = problem.location[0] as LocationObject
  const { line, col } = getLineColLocation(place).start
  return `${relative('', place.source.absoluteRef)}:${line}:${col} ${place.pointer} ${problem.message} (${problem.ruleId})`
}

/** What OpenAPI has and this service does not serve: refused by name, since half serving it would be a silent lie. */
const supported: Oas3Rule = () => {
  const refuse = (feature: string) => (_node: unknown, { report, location }: UserContext) => {
    report({ message: `Not supported: ${feature}.`, location: location.key() })
  }
  return {
    Root (root, { report, location }) {
      if (!root.openapi.startsWith('3.1.')) {
        report({ message: `Not supported: OpenAPI ${root.openapi}; the contract must be written in 3.1.`, location: location.child('openapi') })
      }
    },
    Operation (operation, { report, location, key }) {
      const at = (child: string) => location.child(child).key()
      if (operation.requestBody && ['get', 'head', 'trace'].includes(String(key))) report({ message: `Not supported: a body of ${String(key).toUpperCase()}.`, location: at('requestBody') })
      if (!operation.responses) report({ message: 'Not supported: an operation without responses.', location: location.key() })
      if (operation.servers) report({ message: 'Not supported: servers of a path or an operation.', location: at('servers') })
    },
    PathItem (item, { report, location, key }) {
      if (/[:*]/.test(String(key))) report({ message: `Not supported: the path ${key}; a colon or an asterisk.`, location: location.key() })
      if (/^\/(?:docs|livez|readyz)(?:\/|$)/.test(String(key))) report({ message: `Not supported: the path ${key}; /docs, /livez and /readyz are the service's own.`, location: location.key() })
      if (item.servers) report({ message: 'Not supported: servers of a path or an operation.', location: location.child('servers').key() })
    },
    SecurityRequirement (requirement, { report, location }) {
      if (Object.values(requirement).some(scopes => scopes.length > 0)) report({ message: 'Not supported: scopes.', location })
    },
    Parameter: refuse('parameters'),
    Callback: refuse('callbacks'),
    WebhooksMap: refuse('webhooks'),
    ResponsesMap (responses, { report, location }) {
      for (const status of Object.keys(responses)) {
        if (!/^[1-5]\d\d$/.test(status)) report({ message: `Not supported: the response "${status}"; name each status.`, location: location.child(status).key() })
      }
    },
    MediaTypesMap (types, { report, location }) {
      for (const type of Object.keys(types)) {
        if (type !== 'application/json') report({ message: `Not supported: the media type ${type}; only application/json.`, location: location.child(type).key() })
      }
    },
    SecurityScheme (scheme, { report, location }) {
      if (scheme.type !== 'http' || scheme.scheme?.toLowerCase() !== 'bearer') report({ message: 'Not supported: a security scheme other than http bearer.', location })
    }
  }
}
