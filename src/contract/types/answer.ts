// The answers of a handler as types, by status, media type and header fields.

import type { Concrete, IsOneType, IsUnion, KindOf, ResponseBody } from './body.ts'
import type { bodilessStatuses, framingFields } from './contract.ts'

/**
 * The answers that the contract declares for an operation, distinguished by their status.
 * Annotate a handler's return type with it: the compiler then reports each mistake at its own line.
 */
export type Answer<Ops, Id extends keyof Ops> =
  | { [Key in KeysOf<Ops, Id>]: AnswerBy<Ops, Id, Key> }[KeysOf<Ops, Id>]
  | NoAnswer
  | WithStatus<Id, KeysOf<Ops, Id>>

// Named interfaces: the compiler prints `WithBody<operations, "createPlant", 200>` and no members.
// Without `in out` it takes the answers of two different `Ops` for the same.
type AnswerBy<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> =
  ResponsesOf<Ops, Id>[Key] extends { content: infer Content }
    ? {
        [Type in keyof Content]: [Type] extends [DefaultType<keyof Content>]
          ? AnswerByDefault<Ops, Id, Key>
          : AnswerAs<Ops, Id, Key, Type>
      }[keyof Content]
    : {} extends HeadersOf<Ops, Id, Key> ? WithNoBody<Ops, Id, Key> : WithHeaders<Ops, Id, Key>

/**
 * The media type of an answer that names none: the only one, or the only one of JSON. answers/
 * response-writer.ts has the same rule.
 */
type DefaultType<Type> = IsOneType<Type> extends true ? Type
  : IsUnion<JsonOf<Type>> extends true ? never : JsonOf<Type>
type JsonOf<Type> = Type extends unknown ? KindOf<Type> extends 'json' ? Type : never : never

type AnswerByDefault<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> =
  {} extends HeadersOf<Ops, Id, Key>
    ? WithBody<Ops, Id, Key>
    : WithBodyAndHeaders<Ops, Id, Key>

/** One of several media types, or one that the answer chooses from a range: the answer names it. */
type AnswerAs<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>, Type> =
  {} extends HeadersOf<Ops, Id, Key>
    ? WithMediaType<Ops, Id, Key, Type>
    : WithMediaTypeAndHeaders<Ops, Id, Key, Type>

interface WithBody<in out Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers?: HeadersOrNone<Ops, Id, Key>
  readonly contentType?: DefaultOf<Ops, Id, Key>
  readonly body: BodyAs<ResponsesOf<Ops, Id>[Key], DefaultOf<Ops, Id, Key>>
}

interface WithBodyAndHeaders<in out Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers: HeadersOf<Ops, Id, Key>
  readonly contentType?: DefaultOf<Ops, Id, Key>
  readonly body: BodyAs<ResponsesOf<Ops, Id>[Key], DefaultOf<Ops, Id, Key>>
}

interface WithMediaType<in out Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>, Type> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers?: HeadersOrNone<Ops, Id, Key>
  readonly contentType: Concrete<Type>
  readonly body: BodyAs<ResponsesOf<Ops, Id>[Key], Type>
}

interface WithMediaTypeAndHeaders<
  in out Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>, Type
> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers: HeadersOf<Ops, Id, Key>
  readonly contentType: Concrete<Type>
  readonly body: BodyAs<ResponsesOf<Ops, Id>[Key], Type>
}

interface WithNoBody<in out Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers?: HeadersOrNone<Ops, Id, Key>
  readonly body?: NoBodyDeclared<Id, Key>
}

interface WithHeaders<in out Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> {
  readonly status: StatusOf<Ops, Id, Key>
  readonly headers: HeadersOf<Ops, Id, Key>
  readonly body?: NoBodyDeclared<Id, Key>
}

// Nothing satisfies the following types; the compiler prints the names of those with `Declared`.
// `never` fails for optional members: under exactOptionalPropertyTypes a missing member is `never`,
// so an answer without its body would match another status (typeRelatedToDiscriminatedType).

/** Lets `status` distinguish the answers of an operation that declares one status. */
interface NoAnswer { readonly status: never }

/**
 * The compiler compares an answer with the members of its status. If there is none, it takes the
 * member that shares the most names, of several the last one in the order of their names: this one.
 * So it reports an undeclared status, and no other member of that answer.
 */
interface WithStatus<Id, Statuses> {
  readonly status: DeclaredStatus<Id, Statuses>
  readonly headers?: Anything
  readonly contentType?: unknown
  readonly body?: Anything
}
/**
 * As `unknown`, but keeps literals: the compiler reads a handler in the call of serveContract()
 * before it knows `Ops`, and `state: 'done'` would be a string.
 */
type Anything = {} | null | undefined | '' | 0 | 0n | false | readonly Anything[] |
  { readonly [name: string]: Anything }
interface DeclaredStatus<Id, Statuses> {
  readonly 'the contract declares this status': Id & Statuses & never
}

interface NoBodyDeclared<Id, Key> { readonly 'the contract declares no body': Id & Key & never }
interface NoHeadersDeclared<Id, Key> {
  readonly 'the contract declares no header fields': Id & Key & never
}

type HeadersOrNone<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> =
  [keyof HeadersOf<Ops, Id, Key>] extends [never]
    ? NoHeadersDeclared<Id, Key>
    : HeadersOf<Ops, Id, Key>

/**
 * Without the index signature that openapi-typescript adds, the field that OpenAPI ignores
 * (section 4.8.17), and those that only the engine sends.
 */
type HeadersOf<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> =
  ResponsesOf<Ops, Id>[Key] extends { headers: infer Headers }
    ? {
        readonly [Name in keyof Headers as string extends Name ? never : NotOfEngine<Name>]:
        Headers[Name]
      }
    : {}
type NotOfEngine<Name> = Name extends string
  ? Lowercase<Name> extends FieldOfEngine ? never : Name
  : Name
type FieldOfEngine = 'content-type' | 'x-request-id' | typeof framingFields[number]

/** A body as a handler gives it, by media type. */
type BodyAs<Response, Type> =
  Response extends { content: infer Content }
    ? Type extends keyof Content ? ResponseBody<Type, Content[Type]> : never
    : never

type DefaultOf<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> =
  DefaultType<TypesOf<ResponsesOf<Ops, Id>[Key]>>

export type ResponsesOf<Ops, Id extends keyof Ops> =
  Ops[Id] extends { responses: infer Responses } ? Responses : never
export type TypesOf<Message> =
  Message extends { content: infer Content } ? keyof Content & string : never
type KeysOf<Ops, Id extends keyof Ops> = keyof ResponsesOf<Ops, Id>

/** Statuses of one key of `responses`, except those of a more exact key (OpenAPI 3.1, 4.8.16). */
type StatusOf<Ops, Id extends keyof Ops, Key extends KeysOf<Ops, Id>> =
  Exclude<StatusesOf<Key>, MoreExact<Key, KeysOf<Ops, Id>> | BodilessOf<ResponsesOf<Ops, Id>[Key]>>
type BodilessOf<Response> = Response extends { content: unknown }
  ? typeof bodilessStatuses[number]
  : never
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
