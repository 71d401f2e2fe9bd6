// What a contract asks of the code that serves it, as types: a handler per operation, a verifier
// per security scheme. `Ops` is the generated interface `operations`, `C` all generated constants,
// `Schemes` its security schemes.
import type { FastifyRequest } from 'fastify'
import type { Answer, ResponsesOf, TypesOf } from './answer.ts'
import type { Concrete, IsOneType, IsUnion, RequestBody } from './body.ts'
import type { Contract } from './contract.ts'

/** A handler for each of these operations, and for no other. */
export type Handlers<Ops, Ids extends keyof Ops, Schemes = AnySchemes> = {
  readonly [Id in Ids]: Handler<Ops, Id, Schemes>
}
/** Where the contract is not known, each name may be that of a scheme. */
interface AnySchemes { readonly [name: string]: unknown }

/**
 * The handlers of the operations whose first tag is `Tag`, and of no other: each operation is in
 * one group. `undefined` is the group of those without a tag.
 */
export type HandlersTagged<Ops, C extends Contract, Tag extends FirstTags<C>> = {
  readonly [Id in keyof Ops & IdsTagged<C['operations'], Tag>]:
  Handler<Ops, Id, C['securitySchemes']>
}
export type FirstTags<C extends Contract> = FirstTag<C['operations'][keyof C['operations']]>
type IdsTagged<Operations, Tag> = {
  [Id in keyof Operations]: FirstTag<Operations[Id]> extends Tag ? Id : never
}[keyof Operations]
type FirstTag<Op> = Op extends { readonly tags: readonly [infer First, ...unknown[]] }
  ? First
  : undefined

/** Turns a valid, authenticated request into one of the answers that the contract declares. */
export interface Handler<Ops, Id extends keyof Ops, Schemes = AnySchemes> {
  (request: Request<Ops, Id, Schemes>): Promise<Answer<Ops, Id>> | Answer<Ops, Id>
  /** Never set: the compiler names both operations of a handler in the place of another one. */
  readonly operationId?: Id | undefined
}

/**
 * A handler's input: parameters by place (`path`, `query`, `querystring`, `header`, `cookie`),
 * body, callers by security scheme. If the body may have several media types, or any of a range,
 * `contentType` says which it has: the key of the contract, or the type that was sent where the
 * key is a range.
 */
export type Request<Ops, Id extends keyof Ops, Schemes = AnySchemes> =
  ParametersOf<Ops[Id]> &
  AcceptOf<ResponsesOf<Ops, Id>> &
  (HasType<keyof BodyContent<Ops[Id]>> extends true
    ? TypedBody<Ops[Id]> & Caller<Schemes>
    : BodyAndCaller<Ops, Id, Schemes>)

type HasType<Type> = [Type] extends [never] ? false : IsOneType<Type> extends true ? false : true

interface Caller<Schemes> { readonly principals: PrincipalsOf<Schemes> }
interface BodyAndCaller<Ops, Id extends keyof Ops, Schemes> extends Caller<Schemes> {
  readonly body: BodyOf<Ops[Id]>
}
type PrincipalsOf<Schemes> = { readonly [Name in keyof Schemes]?: Principal | undefined }

type ParametersOf<Op> = Op extends { parameters: infer Places }
  ? {
      readonly [In in keyof Places as [Places[In]] extends [undefined] ? never : In]-?:
      NonNullable<Places[In]>
    }
  : unknown

/**
 * `accept`: the media type for success that the caller prefers, where the contract has several.
 * The compiler prints the members of this union: it has no name.
 */
type AcceptOf<Responses> = {
  [Key in keyof Responses]: `${Key & (string | number)}` extends `2${string}`
    ? TypesOf<Responses[Key]>
    : never
}[keyof Responses] extends infer Type
  ? IsUnion<Type> extends true ? { readonly accept: Type } : unknown
  : never

type BodyOf<Op> = Op extends { requestBody: unknown } ? BodyIn<BodyContent<Op>>
  : Op extends { requestBody?: unknown } ? BodyIn<BodyContent<Op>> | undefined
    : undefined

type TypedBody<Op> =
  | TypedBodyIn<BodyContent<Op>>
  | (Op extends { requestBody: unknown } ? never : NoBody)
type TypedBodyIn<Content> = {
  [Type in keyof Content]: {
    readonly contentType: Concrete<Type>
    readonly body: RequestBody<Type, Content[Type]>
  }
}[keyof Content]
interface NoBody { readonly contentType?: undefined, readonly body?: undefined }

type BodyContent<Op> = Op extends { requestBody?: infer Body }
  ? NonNullable<Body> extends { content: infer Content } ? Content : never
  : never
type BodyIn<Content> = {
  [Type in keyof Content]: RequestBody<Type, Content[Type]>
}[keyof Content]

/**
 * A caller. The log shows the name. Limits count by `id`, which differs for each token of a name
 * and stays the same, or by the name if there is none. Neither is secret.
 */
export interface Principal { readonly name: string, readonly id?: string }

/** The authenticated callers, by security scheme. */
export type Principals = Readonly<Record<string, Principal | undefined>>

/** A verifier for every security scheme of the contract, and for no other. */
export type Verifiers<Schemes> = {
  readonly [Name in keyof Schemes]: Verifier<CredentialsOf<Schemes[Name]>>
}

/**
 * Returns the caller, `undefined` for unknown credentials, or `'forbidden'` for missing permission.
 * Throws only when it cannot decide. `scopes` are those of the operation's security requirement
 * (OpenAPI 3.1, section 4.8.30). The body of the request has not been read.
 */
export type Verifier<Credentials> = (
  credentials: Credentials, scopes: readonly string[], request: FastifyRequest
) => Verdict | Promise<Verdict>
export type Verdict = Principal | 'forbidden' | undefined

type CredentialsOf<Scheme> = Scheme extends { type: 'http', scheme: infer Name extends string }
  ? Lowercase<Name> extends 'basic' ? BasicCredentials : string
  : string

/** RFC 7617, section 2. */
export interface BasicCredentials { readonly username: string, readonly password: string }

/** Verifies a bearer token, an API key or an access token. */
export type TokenVerifier = Verifier<string>
