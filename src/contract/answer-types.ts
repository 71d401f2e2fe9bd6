// The answers of a handler as types, by status, media type and header fields.

import type { Concrete, IsOneType, SentAs, Undeclared } from './body-types.ts'
import type { bodilessStatuses, framingFields } from './types.ts'

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

export type ResponsesOf<Ops, Id extends keyof Ops> = Ops[Id] extends { responses: infer Responses } ? Responses : never
export type TypesOf<Message> = Message extends { content: infer Content } ? keyof Content & string : never
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
