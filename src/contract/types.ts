// What a contract asks of the code that serves it, as types: a handler per operation, a verifier per security scheme.
// `Ops` is the generated interface `operations`, `C` the generated constants together.

import type { Readable } from 'node:stream'

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

/** A parameter in its place's default style (OpenAPI 3.1, section 4.8.12); `explode` matters to arrays in a query. */
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly explode: boolean
  readonly schema: object
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
  readonly headers?: Readonly<Record<string, { readonly required: boolean, readonly schema: object }>>
}

/** Statuses of responses without a body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5). */
export const bodilessStatuses = [204, 205, 304] as const

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
 * body may have several media types, `contentType` tells which it has: the key of the contract, or the type that was
 * sent where the key is a range.
 */
export type Request<Ops, Id extends keyof Ops> = ParametersOf<Ops[Id]> &
  (IsUnion<keyof BodyContent<Ops[Id]>> extends true ? TypedBody<Ops[Id]> & Caller : BodyAndCaller<Ops, Id>)

interface Caller { readonly principals: Principals }
interface BodyAndCaller<Ops, Id extends keyof Ops> extends Caller { readonly body: BodyOf<Ops[Id]> }

type ParametersOf<Op> = Op extends { parameters: infer Places }
  ? { readonly [In in keyof Places as [Places[In]] extends [undefined] ? never : In]-?: NonNullable<Places[In]> }
  : unknown

type BodyOf<Op> = Op extends { requestBody: unknown } ? BodyIn<BodyContent<Op>>
  : Op extends { requestBody?: unknown } ? BodyIn<BodyContent<Op>> | undefined
    : undefined

type TypedBody<Op> = TypedBodyIn<BodyContent<Op>> | (Op extends { requestBody: unknown } ? never : NoBody)
type TypedBodyIn<Content> = {
  [Type in keyof Content]: { readonly contentType: SentType<Type>, readonly body: BodyAs<Type, Content[Type]> }
}[keyof Content]
interface NoBody { readonly contentType?: undefined, readonly body?: undefined }

type BodyContent<Op> = Op extends { requestBody?: infer Body }
  ? NonNullable<Body> extends { content: infer Content } ? Content : never
  : never
type BodyIn<Content> = { [Type in keyof Content]: BodyAs<Type, Content[Type]> }[keyof Content]
type SentType<Type> = Type extends `${infer Before}*${infer After}`
  ? Before extends '' ? string : `${Before}${string}${After}`
  : Type

/** What a handler gets of a body, by the kind of its media type, as kindOf() of http/media-type.ts has it. */
type BodyAs<Type, Schema> = KindOf<Type> extends 'json' | 'form' ? Received<Schema>
  : KindOf<Type> extends 'text' ? string
    : KindOf<Type> extends 'multipart' ? AsyncIterable<PartOf<Schema>>
      : Readable

export type KindOf<Type> = Type extends string ? KindOfName<Lowercase<Essence<Type>>> : never
type Essence<Type extends string> = Type extends `${infer Name};${string}` ? Trimmed<Name> : Type
type Trimmed<Text extends string> = Text extends `${infer Rest} ` ? Trimmed<Rest> : Text
type KindOfName<Name extends string> = Name extends 'application/json' | `${string}/${string}+json` ? 'json'
  : Name extends 'application/x-www-form-urlencoded' ? 'form'
    : Name extends 'multipart/form-data' ? 'multipart'
      : Name extends 'text/event-stream' ? 'events'
        : Name extends `text/${string}` ? 'text'
          : 'bytes'

/** A file of a form. What the handler does not read of it is dropped when it asks for the next part. */
export interface FilePart<Name> {
  readonly name: Name
  readonly file: Readable
  /** The last part of the path that the client named. */
  readonly filename: string | undefined
  readonly contentType: string
}

/** A field of a form; of an array it is one item. */
export interface FieldPart<Name, Value> { readonly name: Name, readonly value: Value, readonly file?: undefined }

/** The parts of a form. generated/types.ts has Blob for a file. */
type PartOf<Form> = unknown extends Form ? AnyPart<string>
  : Form extends object
    ? { [Name in keyof Form & string]-?: PartNamed<Name, ItemOf<NonNullable<Form[Name]>>> }[keyof Form & string]
    : never
type ItemOf<Value> = Value extends readonly (infer Item)[] ? Item : Value
type PartNamed<Name, Value> = unknown extends Value ? AnyPart<Name>
  : [Value] extends [{ readonly $read: unknown }] ? never
      : (Extract<Value, Blob> extends never ? never : FilePart<Name>) |
    ([Exclude<Value, Blob>] extends [never] ? never : FieldPart<Name, Received<Exclude<Value, Blob>>>)
type AnyPart<Name> = FilePart<Name> | FieldPart<Name, unknown>

type IsUnion<T, Whole = T> = [T] extends [never] ? false : T extends unknown ? [Whole] extends [T] ? false : true : never

type ContentOf<Message> = Message extends { content: infer Content } ? Content[keyof Content] : never

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
  ResponsesOf<Ops, Id>[Key] extends { content: unknown }
    ? {} extends HeadersOf<Ops, Id, Key> ? WithBody<Ops, Id, Key> : WithBodyAndHeaders<Ops, Id, Key>
    : {} extends HeadersOf<Ops, Id, Key> ? WithoutBody<Ops, Id, Key> : WithHeaders<Ops, Id, Key>

interface WithBody<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers?: OrUndeclared<HeadersOf<Ops, Id, Key>>
  readonly body: Sent<ContentOf<ResponsesOf<Ops, Id>[Key]>>
}

interface WithBodyAndHeaders<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers: HeadersOf<Ops, Id, Key>
  readonly body: Sent<ContentOf<ResponsesOf<Ops, Id>[Key]>>
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
 * Without the index signature that openapi-typescript adds, the field that OpenAPI ignores (section 4.8.17), and the one
 * that the engine sends with every response.
 */
type HeadersOf<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> =
  ResponsesOf<Ops, Id>[Key] extends { headers: infer Headers }
    ? { readonly [Name in keyof Headers as string extends Name ? never : NotOfEngine<Name>]: Headers[Name] }
    : {}
type NotOfEngine<Name> = Name extends string
  ? Lowercase<Name> extends 'content-type' | 'x-request-id' ? never : Name
  : Name

/**
 * An uninhabited type. `never` fails here: under exactOptionalPropertyTypes a missing member is `never`, so an answer
 * without its body would match another status (TypeScript 5.9, typeRelatedToDiscriminatedType).
 */
interface Undeclared { readonly 'the contract declares none': never }

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

/** A value as a client sends it: without the members that are `readOnly`. openapi-typescript marks them. */
type Received<T> = Without<T, { readonly $read: unknown }>
/** A value as the service sends it: without the members that are `writeOnly`. */
type Sent<T> = Without<T, { readonly $write: unknown }>

type Without<T, Hidden> = T extends Blob ? string
  : T extends { readonly $read: infer Inner } | { readonly $write: infer Inner } ? Without<Inner, Hidden>
    : T extends readonly unknown[] ? { [Index in keyof T]: Without<T[Index], Hidden> }
      : T extends object ? WithoutHidden<T, HiddenIn<T, Hidden>, Hidden>
        : T
type WithoutHidden<T, Names, Hidden> = [Names] extends [never] ? { [Name in keyof T]: Without<T[Name], Hidden> }
  : Flat<{ [Name in keyof T as Name extends Names ? never : Name]: Without<T[Name], Hidden> } & Absent<Names, Hidden>>
type HiddenIn<T, Hidden> = { [Name in keyof T]-?: NonNullable<T[Name]> extends Hidden ? Name : never }[keyof T]
/** Forbids writeOnly members in an answer; readOnly members of a request are refused earlier. */
type Absent<Names, Hidden> = Hidden extends { readonly $write: unknown }
  ? { readonly [Name in Names & PropertyKey]?: Undeclared }
  : unknown
/** Flattens an intersection, for shorter compiler messages. */
type Flat<T> = { [Name in keyof T]: T[Name] }

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
