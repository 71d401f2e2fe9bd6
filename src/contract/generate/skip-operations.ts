// The operations of a contract that are not served, and why.
import type { NormalizedProblem, Source } from '@redocly/openapi-core'
import { operationKeys } from '../message/methods.ts'
import { routed } from '../message/paths.ts'
import { escapedKey } from '../schema/index.ts'
import type { Server, SkippedOperation } from '../types/contract.ts'
import { type Description, listOperations } from './description/description.ts'
import { toAddress, toServer } from './emit/emit-contract.ts'
import { placeOf } from './files/findings.ts'
import { childPlace, type References } from './lint/references.ts'
import type { Survey } from './lint/survey.ts'
import { isRoutable, pathFault, throwOwnPath } from './lint/unsupported-features.ts'

/** An operation, and the places of it, of its Path Item Object and of its path. */
interface Candidate {
  id: string
  address: ReturnType<typeof toAddress>
  isReachable: boolean
  place: string
  item: string
  key: string
}

export class SkippedOperations {
  /** The webhooks that a finding is about. */
  readonly #webhooks = new Set<string>()
  /** By id. */
  readonly #reasons = new Map<string, string>()
  readonly #references: References
  readonly #candidates: Candidate[] = []
  readonly #shared: string[]

  /** @param document the description with an id for each operation */
  constructor (
    document: Description,
    { references }: Survey,
    { absoluteRef: root }: Source,
    ownPaths: readonly string[]
  ) {
    this.#references = references
    this.#shared = [`${root}#/security/`, `${root}#/servers/`]
    const server = toServer(document.servers)
    for (const listed of listOperations(document)) {
      const { url, method, operation } = listed
      const key = `${root}#/paths/${escapedKey(url)}`
      const item = references.resolve(key)
      const place = childPlace(item, operationKeys(method).join('/'))
      for (const name of (operation.security ?? document.security ?? []).flatMap(Object.keys)) {
        references.addUse(place, `${root}#/components/securitySchemes/${name}`)
      }
      const id = String(operation.operationId)
      const address = toAddress(listed)
      const isReachable = canReach(address, server, ownPaths)
      this.#candidates.push({ id, address, isReachable, place, item, key })
    }
  }

  has (id: string): boolean {
    return this.#reasons.has(id)
  }

  /** Skips operations for a reason, unless they are skipped already. */
  add (ids: readonly string[], reason: string): void {
    const sentence = reason.replace(/^Not supported: |\.$/g, '')
    for (const id of ids) if (!this.has(id)) this.#reasons.set(id, sentence)
  }

  /**
   * Skips the operations and webhooks that use the place of a finding.
   * @returns whether that settles the finding: it is about an operation, a webhook or a component
   */
  addUsersOf (problem: NormalizedProblem): boolean {
    const { source, pointer = '' } = placeOf(problem)
    const place = `${source.absoluteRef}${pointer}`
    // About every operation, even if one refers to the whole file.
    if (this.#shared.some(start => place.startsWith(start))) return false
    const users = this.#references.usersOf(place)
    const affected = this.#candidates.filter(({ place: operation, item, key }) => {
      if (place === item || place === key || users.has(operation)) return true
      return users.has(childPlace(item, 'parameters')) || users.has(childPlace(item, 'servers'))
    })
    this.add(affected.map(({ id }) => id), problem.message)
    this.addWebhooksOf(place)
    return affected.length > 0 || /#\/(?:components|webhooks)\//.test(place)
  }

  /** Leaves out the types of the webhooks that use a place. */
  addWebhooksOf (place: string): void {
    for (const user of this.#references.usersOf(place)) {
      const webhook = /^.*#\/webhooks\/(.*)$/s.exec(user)?.[1]
      if (webhook !== undefined) this.#webhooks.add(webhook)
    }
  }

  /** Whether a finding is about this webhook. */
  hasWebhook (name: string): boolean {
    return this.#webhooks.has(escapedKey(name))
  }

  /** A copy of a description that says at each skipped operation that it is not served. */
  note (document: Description): Description {
    if (this.#reasons.size === 0) return document
    const copy = structuredClone(document)
    const reasons = new Map<string, string>()
    for (const { method, url, reason } of this.list()) reasons.set(`${method} ${url}`, reason)
    for (const { method, url, operation } of listOperations(copy)) {
      const reason = reasons.get(`${method.toUpperCase()} ${url}`)
      if (reason === undefined) continue
      const note = `This service does not implement this operation, and answers 501: ${reason}.`
      const { description } = operation
      operation.description = typeof description === 'string' ? `${note}\n\n${description}` : note
    }
    return copy
  }

  list (): SkippedOperation[] {
    const skipped: SkippedOperation[] = []
    for (const { id, address, isReachable } of this.#candidates) {
      const reason = this.#reasons.get(id)
      if (reason !== undefined) skipped.push({ ...address, reason, isReachable })
    }
    return skipped
  }
}

/** An operation may be skipped for another reason than its path. */
function canReach (
  address: Candidate['address'],
  server: Server,
  ownPaths: readonly string[]
): boolean {
  try {
    const paths = [address.url, routed(address, server, {}).template]
    for (const path of paths) throwOwnPath(decodeURI(path), ownPaths)
    const areSound = paths.every(path => path.startsWith('/') && pathFault(path) === undefined)
    return areSound && isRoutable(address.method)
  } catch {
    return false
  }
}
