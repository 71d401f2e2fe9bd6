// The operations of a contract that are not served, and why.
import type { NormalizedProblem, Source } from '@redocly/openapi-core'
import type { SkippedOperation } from '../types.ts'
import { escapedKey } from '../schema/index.ts'
import { listOperations } from './description.ts'
import type { Description } from './description.ts'
import { toSkipped } from './emit-contract.ts'
import { placeOf } from './findings.ts'
import type { Survey } from './refuse-unsupported.ts'

/** Where the parts of an operation are; `item` is its Path Item Object. */
interface Places { id: string, operation: string, item: string, key: string }

export class Skipped {
  /** The places of webhooks that a finding is about. */
  readonly #webhooks = new Set<string>()
  readonly #reasons = new Map<string, string>()
  readonly #document: Description
  readonly #survey: Survey
  readonly #places: Places[]

  /** @param document the description with an id for each operation */
  constructor (document: Description, survey: Survey, { absoluteRef: root }: Source) {
    this.#document = document
    this.#survey = survey
    const { references } = survey
    this.#places = listOperations(document).map(({ url, method, operation }) => {
      const key = `${root}#/paths/${escapedKey(url)}`
      const item = references.resolve(key)
      const place = childOf(item, method)
      for (const name of (operation.security ?? document.security ?? []).flatMap(Object.keys)) {
        references.addUse(place, `${root}#/components/securitySchemes/${name}`)
      }
      return { id: String(operation.operationId), operation: place, item, key }
    })
  }

  has (id: string): boolean {
    return this.#reasons.has(id)
  }

  /** Skips operations for a reason, unless they are skipped already. */
  add (ids: readonly string[], reason: string): void {
    for (const id of ids) if (!this.has(id)) this.#reasons.set(id, reason.replace(/^Not supported: |\.$/g, ''))
  }

  /**
   * Skips the operations that use the place of a finding.
   * @returns false for a finding that is not about a part of the description that operations use or may leave unused
   */
  addUsersOf (problem: NormalizedProblem): boolean {
    const { source, pointer = '' } = placeOf(problem)
    const place = `${source.absoluteRef}${pointer}`
    const users = this.#survey.references.users(place)
    const affected = this.#places.filter(({ operation, item, key }) => {
      return users.has(operation) || users.has(childOf(item, 'parameters')) || users.has(childOf(item, 'servers')) ||
        place === item || place === key
    })
    this.add(affected.map(({ id }) => id), problem.message)
    for (const user of users) if (user.includes('#/webhooks/')) this.#webhooks.add(user.replace(/^.*#\/webhooks\//s, ''))
    return affected.length > 0 || /#\/(?:components|webhooks)\//.test(place)
  }

  /** Whether a finding is about this webhook. */
  hasWebhook (name: string): boolean {
    return this.#webhooks.has(escapedKey(name))
  }

  /** A copy of a description that says at each skipped operation that it is not served. */
  note (document: Description): Description {
    const copy = structuredClone(document)
    const reasons = new Map(this.list().map(({ method, url, reason }) => [`${method} ${url}`, reason]))
    for (const { method, url, operation } of listOperations(copy)) {
      const reason = reasons.get(`${method.toUpperCase()} ${url}`)
      if (reason === undefined) continue
      const note = `This service does not implement this operation, and answers 501: ${reason}.`
      operation.description = [note, operation.description ?? []].flat().join('\n\n')
    }
    return copy
  }

  list (): SkippedOperation[] {
    return listOperations(this.#document).flatMap(listed => {
      const reason = this.#reasons.get(String(listed.operation.operationId))
      return reason === undefined ? [] : [toSkipped(this.#document, listed, reason)]
    })
  }
}

function childOf (place: string, key: string): string {
  return place.endsWith('/') ? place + key : `${place}/${key}`
}
