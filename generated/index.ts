// Generated from openapi.yaml by `npm run generate`. Do not edit: change the contract and generate again.
import type * as engine from 'fastify-openapi-contract'
import { document } from './document.ts'
import * as parts from './operations.ts'
import type { components, operations } from './types.ts'

export type { components, operations } from './types.ts'

type Parts = typeof parts
/** An interface: the compiler prints its name alone. */
interface Schemes extends Readonly<Parts['securitySchemes']> {}

/** The contract, as serveContract() takes it. */
export const contract: engine.ServedContract<operations, Parts> = { ...parts, document }

/** A handler for each operation, and for no other. */
export type Handlers =
  engine.Handlers<operations, keyof operations & keyof Parts['operations'], Schemes>
/** The handlers of the operations with this first tag; `undefined` for those without a tag. */
export type HandlersTagged<Tag extends engine.FirstTags<Parts>> =
  engine.HandlersTagged<operations, Parts, Tag>
/** The handler of an operation, what it gets, and what it may return. */
export type Handler<Id extends keyof operations> = engine.Handler<operations, Id, Schemes>
export type Request<Id extends keyof operations> = engine.Request<operations, Id, Schemes>
export type Answer<Id extends keyof operations> = engine.Answer<operations, Id>
/** A value of a schema, as handlers give it: without the members that are writeOnly. */
export type Schema<Name extends keyof components['schemas']> =
  engine.ResponseValue<components['schemas'][Name]>
/** A verifier for each security scheme. */
export type Verifiers = engine.Verifiers<Schemes>
