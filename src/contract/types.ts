// What a contract asks of the code that serves it, as types: a handler per operation, a verifier per security scheme.
// `Ops` is the generated interface `operations`, `C` the generated constants together.

import type { Concrete, ReceivedAs, SentAs, Undeclared } from './body-types.ts'

/** One operation as data, as generated/operations.ts holds it. */
export interface Operation {
  readonly method: string
  /** The path template (OpenAPI 3.1, section 4.8.8.2), below the path of its server. */
  readonly url: string
  /** Replaces the contract's server for this operation. */
  readonly server?: Server
  /** Security Requirement Objects: all schemes of one of them must hold (OpenAPI 3.1, section 4.8.30). */
  readonly security: ReadonlyArray<Readonly<Record<string, readonly string[]>>>
  readonly parameters: readonly Parameter[]
  readonly body?: Body
  /** By status, range (`2XX`) or `default`. */
  readonly responses: Readonly<Record<string, Response>>
  readonly tags?: readonly string[]
  /** The members whose names begin with `x-` (OpenAPI 3.1, section 4.9). */
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** A parameter and how it is written (OpenAPI 3.1, section 4.8.12). */
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly style: string
  readonly explode: boolean
  readonly schema: object
  /** Whether the value is a JSON text; otherwise the style says how it is written. */
  readonly isJson?: boolean
  readonly allowEmptyValue?: boolean
  /** The default of the schema, or of the schema that it refers to. */
  readonly default?: unknown
}

export interface Body { readonly required: boolean, readonly content: Content }

/** Media Type Objects by media type or range, as the contract writes it (OpenAPI 3.1, section 4.8.14). */
export type Content = Readonly<Record<string, Media>>
export interface Media {
  readonly schema?: object
  /** By name of a member of a form (OpenAPI 3.1, section 4.8.15). */
  readonly encoding?: Readonly<Record<string, Encoding>>
}
export interface Encoding { readonly contentType?: string, readonly style?: string, readonly explode?: boolean }

/** A response that the contract declares; without content it has no body. */
export interface Response {
  readonly content?: Content
  readonly headers?: Readonly<Record<string, Header>>
}

/** A header field in style simple, or as a JSON text (OpenAPI 3.1, section 4.8.21). */
export interface Header {
  readonly required: boolean
  readonly schema: object
  readonly explode?: boolean
  readonly isJson?: boolean
}

/** Statuses of responses without a body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5). */
export const bodilessStatuses = [204, 205, 304] as const

/** Header fields that say where a response ends, and what becomes of its connection (RFC 9112, sections 6 and 9). */
export const framingFields = [
  'connection', 'content-length', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade'
] as const

/** The constants of generated/operations.ts. */
export interface Contract {
  readonly server: Server
  readonly operations: Readonly<Record<string, Operation>>
  readonly schemas: Readonly<Record<string, object>>
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  readonly skipped: readonly SkippedOperation[]
}

/** Where operations are: the first Server Object, with the defaults of its variables (OpenAPI 3.1, section 4.8.5). */
export interface Server { readonly url: string, readonly variables: Readonly<Record<string, string>> }

/** An operation that the contract's owner leaves out: it answers 501. */
export interface SkippedOperation extends Pick<Operation, 'method' | 'url' | 'server'> {
  readonly reason: string
  /** Whether a request can have its path, and the service has no page of its own there. */
  readonly isReachable: boolean
}

/** How credentials are sent: a part of a Security Scheme Object (OpenAPI 3.1, section 4.8.27). */
export interface SecurityScheme {
  readonly type: string
  readonly scheme?: string
  readonly name?: string
  readonly in?: string
}

/** A handler for each of these operations, and for no other. */
export type Handlers<Ops, Ids extends keyof Ops> = { readonly [Id in Ids]: Handler<Ops, Id> }

/**
 * The handlers of the operations whose first tag is `Tag`, and of no other: each operation is in one group.
 * `undefined` is the group of those without a tag.
 */
export type HandlersTagged<Ops, C extends Contract, Tag extends FirstTag<C['operations'][keyof C['operations']]>> = {
  readonly [Id in keyof Ops & IdsTagged<C['operations'], Tag>]: Handler<Ops, Id>
}
type IdsTagged<Operations, Tag> = {
  [Id in keyof Operations]: FirstTag<Operations[Id]> extends Tag ? Id : never
}[keyof Operations]
type FirstTag<Op> = Op extends { readonly tags: readonly [infer First, ...unknown[]] } ? First : undefined

/** Turns a valid, authenticated request into one of the answers that the contract declares. */
export interface Handler<Ops, Id extends keyof Ops> {
  (request: Request<Ops, Id>): Promise<Answer<Ops, Id>> | Answer<Ops, Id>
}

/**
 * A handler's input: parameters by place (`path`, `query`, `header`, `cookie`), body, callers by security scheme. If the
 * body may have several media types, or any of a range, `contentType` tells which it has: the key of the contract, or
 * the type that was sent where the key is a range.
 */
export type Request<Ops, Id extends keyof Ops> = ParametersOf<Ops[Id]> & AcceptOf<ResponsesOf<Ops, Id>> &
  (HasType<keyof BodyContent<Ops[Id]>> extends true ? TypedBody<Ops[Id]> & Caller : BodyAndCaller<Ops, Id>)

type HasType<Type> = [Type] extends [never] ? false : IsOneType<Type> extends true ? false : true

interface Caller { readonly principals: Principals }
interface BodyAndCaller<Ops, Id extends keyof Ops> extends Caller { readonly body: BodyOf<Ops[Id]> }

type ParametersOf<Op> = Op extends { parameters: infer Places }
  ? { readonly [In in keyof Places as [Places[In]] extends [undefined] ? never : In]-?: NonNullable<Places[In]> }
  : unknown

/**
 * `accept`: the media type for success that the caller prefers, where the contract has several. The compiler prints the
 * members of this union: it has no name of its own.
 */
type AcceptOf<Responses> = {
  [Key in keyof Responses]: `${Key & (string | number)}` extends `2${string}` ? TypesOf<Responses[Key]> : never
}[keyof Responses] extends infer Type
  ? IsUnion<Type> extends true ? { readonly accept: Type } : unknown
  : never
type TypesOf<Message> = Message extends { content: infer Content } ? keyof Content & string : never

type BodyOf<Op> = Op extends { requestBody: unknown } ? BodyIn<BodyContent<Op>>
  : Op extends { requestBody?: unknown } ? BodyIn<BodyContent<Op>> | undefined
    : undefined

type TypedBody<Op> = TypedBodyIn<BodyContent<Op>> | (Op extends { requestBody: unknown } ? never : NoBody)
type TypedBodyIn<Content> = {
  [Type in keyof Content]: { readonly contentType: Concrete<Type>, readonly body: ReceivedAs<Type, Content[Type]> }
}[keyof Content]
interface NoBody { readonly contentType?: undefined, readonly body?: undefined }

type BodyContent<Op> = Op extends { requestBody?: infer Body }
  ? NonNullable<Body> extends { content: infer Content } ? Content : never
  : never
type BodyIn<Content> = { [Type in keyof Content]: ReceivedAs<Type, Content[Type]> }[keyof Content]
type IsUnion<T, Whole = T> = [T] extends [never] ? false : T extends unknown ? [Whole] extends [T] ? false : true : never

/**
 * The answers that the contract declares for an operation, distinguished by their status.
 * Annotate a handler's return type with it: the compiler then reports each mistake at its own line.
 */
export type Answer<Ops, Id extends keyof Ops> =
  | NoAnswer
  | { [Key in KeysOf<Ops, Id>]: AnswerBy<Ops, Id, Key> }[KeysOf<Ops, Id>]

/** An uninhabited member, so that the compiler compares an answer only with the one of the same status. */
interface NoAnswer { readonly status: never }

// Named interfaces: the compiler prints `WithBody<operations, "createPlant", 200>` instead of all members.
type AnswerBy<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> =
  ResponsesOf<Ops, Id>[Key] extends { content: infer Content }
    ? IsOneType<keyof Content> extends true
      ? {} extends HeadersOf<Ops, Id, Key> ? WithBody<Ops, Id, Key> : WithBodyAndHeaders<Ops, Id, Key>
      : { [Type in keyof Content]: AnswerAs<Ops, Id, Key, Type> }[keyof Content]
    : {} extends HeadersOf<Ops, Id, Key> ? WithoutBody<Ops, Id, Key> : WithHeaders<Ops, Id, Key>

/** One of several media types, or one that the answer chooses from a range: the answer names it. */
type AnswerAs<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>, Type> =
  {} extends HeadersOf<Ops, Id, Key> ? WithType<Ops, Id, Key, Type> : WithTypeAndHeaders<Ops, Id, Key, Type>
type IsOneType<Type> = true extends IsUnion<Type> ? false : Type extends `${string}/*` ? false : true

interface WithBody<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers?: OrUndeclared<HeadersOf<Ops, Id, Key>>
  readonly body: BodyAs<ResponsesOf<Ops, Id>[Key]>
}

interface WithBodyAndHeaders<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers: HeadersOf<Ops, Id, Key>
  readonly body: BodyAs<ResponsesOf<Ops, Id>[Key]>
}

interface WithType<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>, Type> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers?: OrUndeclared<HeadersOf<Ops, Id, Key>>
  readonly contentType: Concrete<Type>
  readonly body: BodyAs<ResponsesOf<Ops, Id>[Key], Type>
}

interface WithTypeAndHeaders<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>, Type> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers: HeadersOf<Ops, Id, Key>
  readonly contentType: Concrete<Type>
  readonly body: BodyAs<ResponsesOf<Ops, Id>[Key], Type>
}

interface WithoutBody<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers?: OrUndeclared<HeadersOf<Ops, Id, Key>>
  readonly body?: Undeclared
}

interface WithHeaders<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers: HeadersOf<Ops, Id, Key>
  readonly body?: Undeclared
}

type OrUndeclared<Headers> = [keyof Headers] extends [never] ? Undeclared : Headers

/**
 * Without the index signature that openapi-typescript adds, the field that OpenAPI ignores (section 4.8.17), and those
 * that only the engine sends.
 */
type HeadersOf<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> =
  ResponsesOf<Ops, Id>[Key] extends { headers: infer Headers }
    ? { readonly [Name in keyof Headers as string extends Name ? never : NotOfEngine<Name>]: Headers[Name] }
    : {}
type NotOfEngine<Name> = Name extends string
  ? Lowercase<Name> extends 'content-type' | 'x-request-id' | typeof framingFields[number] ? never : Name
  : Name

/** A body as a handler gives it, by media type. */
type BodyAs<Response, Type = TypesOf<Response>> =
  Response extends { content: infer Content }
    ? Type extends keyof Content ? SentAs<Type, Content[Type]> : never
    : never

type ResponsesOf<Ops, Id extends keyof Ops> = Ops[Id] extends { responses: infer Responses } ? Responses : never
type KeysOf<Ops, Id extends keyof Ops> = keyof ResponsesOf<Ops, Id>

/** Statuses of one key of `responses`, except those with a more specific key (OpenAPI 3.1, section 4.8.16). */
type StatusOf<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> = StatusesOf<Key> extends infer Status
  ? Status extends MoreExact<Key, KeysOf<Ops, Id>> | BodilessOf<ResponsesOf<Ops, Id>[Key]> ? never : Status
  : never
type BodilessOf<Response> = Response extends { content: unknown } ? Bodiless : never
type StatusesOf<Key> = Key extends number ? Key
  : Key extends `${infer Hundreds extends Class}XX` ? Range<Hundreds>
    : Key extends 'default' ? Range<Class>
      : never
type MoreExact<Key, Keys> = Key extends number ? never
  : Key extends 'default' ? StatusesOf<Exclude<Keys, 'default'>>
    : Extract<Keys, number>
type Class = '2' | '3' | '4' | '5'
type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
type Range<Hundreds extends Class> = `${Hundreds}${Digit}${Digit}` extends infer Text
  ? Text extends `${infer Status extends number}` ? Status : never
  : never
type Bodiless = typeof bodilessStatuses[number]

/**
 * A caller. The log shows the name. Limits count by `id`, which differs for each token of a name and stays the same,
 * or by the name if there is none. Neither is secret.
 */
export interface Principal { readonly name: string, readonly id?: string }

/** The authenticated callers, by security scheme. */
export type Principals = Readonly<Record<string, Principal | undefined>>

/** A verifier for every security scheme of the contract, and for no other. */
export type Verifiers<Schemes> = { readonly [Name in keyof Schemes]: Verifier<CredentialsOf<Schemes[Name]>> }

/**
 * Returns the caller, `undefined` for unknown credentials, or `'forbidden'` for missing permission.
 * Throws only when it cannot decide. The scopes are those that the operation asks for (OpenAPI 3.1, section 4.8.30).
 */
export type Verifier<Credentials> = (credentials: Credentials, scopes: readonly string[]) => Verdict | Promise<Verdict>
export type Verdict = Principal | 'forbidden' | undefined

type CredentialsOf<Scheme> = Scheme extends { type: 'http', scheme: infer Name extends string }
  ? Lowercase<Name> extends 'basic' ? BasicCredentials : string : string

/** RFC 7617, section 2. */
export interface BasicCredentials { readonly username: string, readonly password: string }

/** Verifies a bearer token, an API key or an access token. */
export type TokenVerifier = Verifier<string>
