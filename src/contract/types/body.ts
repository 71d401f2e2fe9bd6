// The types of bodies by their media type, and of values by their direction.
import type { Readable } from 'node:stream'

/** The body of a request as a handler gets it. kindOf() of message/media-type.ts has the kinds. */
export type RequestBody<Type, Schema> = KindOf<Type> extends 'json' | 'form' ? RequestValue<Schema>
  : KindOf<Type> extends 'text' ? string
    : KindOf<Type> extends 'multipart' ? AsyncIterable<FormPart<Schema>>
      : KindOf<Type> extends 'lines' ? AsyncIterable<RequestValue<Schema>>
        : Readable

/** The body of a response as a handler gives it. */
export type ResponseBody<Type, Schema> = KindOf<Type> extends 'json' ? ResponseValue<Schema>
  : KindOf<Type> extends 'text' ? TextOf<Schema>
    : KindOf<Type> extends 'events' ? AsyncIterable<EventOf<ResponseValue<Schema>>>
      : KindOf<Type> extends 'lines' ? AsyncIterable<ResponseValue<Schema>>
        : Bytes
/** A file has the type Blob. */
type TextOf<Schema> = [Schema] extends [Blob] ? Bytes : StringOf<ResponseValue<Schema>>
type StringOf<Value> = Value extends string ? Value : string

/** Any bytes; a string is UTF-8. */
export type Bytes = Uint8Array | string | Readable

export type KindOf<Type> = Type extends string ? KindOfName<Lowercase<Essence<Type>>> : never
type Essence<Type extends string> = Type extends `${infer Name};${string}` ? Trimmed<Name> : Type
type Trimmed<Text extends string> = Text extends `${infer Rest} ` ? Trimmed<Rest> : Text
type KindOfName<Name extends string> =
  Name extends 'application/json' | `${string}/${string}+json` ? 'json'
    : Name extends Lines ? 'lines'
      : Name extends 'application/x-www-form-urlencoded' ? 'form'
        : Name extends 'multipart/form-data' ? 'multipart'
          : Name extends 'text/event-stream' ? 'events'
            : Name extends `text/${string}` ? 'text'
              : 'bytes'
type Lines = 'application/jsonl' | 'application/x-ndjson' | 'application/json-seq' |
  `${string}/${string}+json-seq`

/** A media type of a range. */
export type Concrete<Type> = Type extends '*/*' ? `${string}/${string}`
  : Type extends `${infer Main}/*` ? `${Main}/${string}` : Type

/** Whether there is one media type, and no range. */
export type IsOneType<Type> = IsUnion<Type> extends false
  ? Type extends `${string}/*` ? false : true
  : false
export type IsUnion<T> = [T] extends [never] ? false : true extends IsPart<T, T> ? true : false
type IsPart<T, Whole> = T extends unknown ? [Whole] extends [T] ? false : true : never

/** A file of a form. Asking for the next part drops what the handler has not read of this one. */
export interface FilePart<Name> {
  readonly name: Name
  readonly file: Readable
  /** The last part of the path that the client named. */
  readonly filename: string | undefined
  /** Without one that is valid it is `application/octet-stream`. */
  readonly contentType: `${string}/${string}`
}

/** A field of a form; of an array it is one item. */
export interface FieldPart<Name, Value> {
  readonly name: Name
  readonly value: Value
  readonly file?: undefined
}

/** The parts of a form. generated/types.ts has Blob for a file. */
type FormPart<Form> = unknown extends Form ? UntypedPart<string>
  : Form extends object
    ? { [Name in keyof Form & string]-?: MemberPart<Name, ItemOf<NonNullable<Form[Name]>>> }[
      keyof Form & string
      ]
    : never
type ItemOf<Value> = Value extends readonly (infer Item)[] ? Item : Value
type MemberPart<Name, Value> = unknown extends Value ? UntypedPart<Name>
  : [Value] extends [ReadOnlyMark] ? never
      : FileIn<Name, Extract<Value, Blob>> | FieldIn<Name, Exclude<Value, Blob>>
type FileIn<Name, File> = [File] extends [never] ? never : FilePart<Name>
type FieldIn<Name, Value> = [Value] extends [never] ? never : FieldPart<Name, RequestValue<Value>>
type UntypedPart<Name> = FilePart<Name> | FieldPart<Name, unknown>

/** An event of `text/event-stream` (WHATWG HTML, section 9.2). */
export interface ServerSentEvent<Data> {
  readonly event?: string
  readonly id?: string
  /** Milliseconds after which a client that lost the connection opens another. */
  readonly retry?: number
  /** Sent as JSON, but a string that the contract allows as text. */
  readonly data: Data
}

/**
 * The schema describes events if each of its forms declares `data`, and otherwise only fields of
 * events. Any other schema describes the data of events.
 */
type EventOf<T> = [OtherNames<T>] extends [never] ? T : ServerSentEvent<T>
type OtherNames<T> = [T] extends [never] ? 'none'
  : T extends object
    ? 'data' extends keyof T ? Exclude<keyof T, keyof ServerSentEvent<T>> : 'none'
    : 'none'

// openapi-typescript marks members that only responses have, and those that only requests have.
interface ReadOnlyMark { readonly $read: unknown }
interface WriteOnlyMark { readonly $write: unknown }

/** A value in a request: without the members that are `readOnly`. */
export type RequestValue<T> = Without<T, ReadOnlyMark>
/** A value in a response: without the members that are `writeOnly`. */
export type ResponseValue<T> = Without<T, WriteOnlyMark>

type Without<T, Mark> = T extends Blob ? string
  : T extends { readonly $read: infer Inner } | { readonly $write: infer Inner }
    ? Without<Inner, Mark>
    : T extends readonly unknown[] ? { [Index in keyof T]: Without<T[Index], Mark> }
      : T extends object ? WithoutNames<T, NamesWith<T, Mark>, Mark>
        : T
type WithoutNames<T, Names, Mark> = [Names] extends [never]
  ? { [Name in keyof T]: Without<T[Name], Mark> }
  : Flat<
    { [Name in keyof T as Name extends Names ? never : Name]: Without<T[Name], Mark> } &
    Absent<Names, Mark>
  >
type NamesWith<T, Mark> = {
  [Name in keyof T]-?: [NonNullable<T[Name]>] extends [never] ? never
    : NonNullable<T[Name]> extends Mark ? Name : never
}[keyof T]
/** Forbids writeOnly members in an answer; readOnly members of a request are refused earlier. */
type Absent<Names, Mark> = Mark extends WriteOnlyMark
  ? { readonly [Name in Names & PropertyKey]?: WriteOnly<Name> }
  : unknown
/** Flattens an intersection, for shorter compiler messages. */
type Flat<T> = { [Name in keyof T]: T[Name] }

/** Nothing satisfies it, as in answer.ts. */
interface WriteOnly<Name> { readonly 'only requests have this member': Name & never }
