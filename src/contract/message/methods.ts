// The methods of HTTP: where a description has their operations, and which of them Fastify routes.
import type { FastifyInstance } from 'fastify'

/** The methods that a Path Item Object has fields for (OpenAPI 3.2, section 4.9.1). */
export const methods = [
  'get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'
] as const
const fields: readonly string[] = methods

/** Whether a member of a Path Item Object is an operation. */
export function isMethodField (name: string): boolean {
  return fields.includes(name)
}

/** The names that lead from a Path Item Object to the operation of a method. */
export function operationKeys (method: string): string[] {
  const field = method.toLowerCase()
  return isMethodField(field) ? [field] : ['additionalOperations', method]
}

/** Fastify routes a method of `additionalOperations` only once it is added. */
export function addMethods (app: FastifyInstance, operations: Iterable<{ method: string }>): void {
  for (const { method } of operations) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true })
  }
}
