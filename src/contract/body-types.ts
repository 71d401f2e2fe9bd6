// The types of bodies by their media type, and of values by their direction.
import type { Readable } from 'node:stream'

/** What a handler gets of a body, by the kind of its media type, as kindOf() of http/media-type.ts has it. */
export type ReceivedAs<Type, Schema> = KindOf<Type> extends 'json' | 'form' ? Received<Schema>
  : KindOf<Type> extends 'text' ? string
    : KindOf<Type> extends 'multipart' ? AsyncIterable<PartOf<Schema>>
      : Readable

type KindOf<Type> = Type extends string ? KindOfName<Lowercase<Essence<Type>>> : never
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

/** What a handler answers, by the kind of its media type. */
export type SentAs<Type, Schema> = KindOf<Type> extends 'json' ? Sent<Schema>
  : KindOf<Type> extends 'text' ? Sent<Schema> extends string ? Sent<Schema> : string
    : KindOf<Type> extends 'events' ? AsyncIterable<EventOf<Sent<Schema>>>
      : Bytes

/** Any bytes; a string is UTF-8. */
export type Bytes = Uint8Array | string | Readable

/** An event of `text/event-stream` (WHATWG HTML, section 9.2). */
export interface ServerSentEvent<Data> {
  readonly event?: string
  readonly id?: string
  /** Milliseconds after which a client that lost the connection opens another. */
  readonly retry?: number
  /** Sent as JSON, but a string that the contract allows as text. */
  readonly data: Data
}

/** The events, if each form of the schema declares `data` and only fields of events; else the schema is that of data. */
type EventOf<T> = [OtherNames<T>] extends [never] ? T : ServerSentEvent<T>
type OtherNames<T> = [T] extends [never] ? 'none'
  : T extends object ? 'data' extends keyof T ? Exclude<keyof T, keyof ServerSentEvent<T>> : 'none' : 'none'

/** A media type of a range. */
export type Concrete<Type> = Type extends '*/*' ? `${string}/${string}`
  : Type extends `${infer Main}/*` ? `${Main}/${string}` : Type

export type IsOneType<Type> = true extends IsUnion<Type> ? false : Type extends `${string}/*` ? false : true
export type IsUnion<T, Whole = T> = [T] extends [never] ? false : T extends unknown ? [Whole] extends [T] ? false : true : never

/** A value as a client sends it: without the members that are `readOnly`. openapi-typescript marks them. */
export type Received<T> = Without<T, { readonly $read: unknown }>
/** A value as the service sends it: without the members that are `writeOnly`. */
export type Sent<T> = Without<T, { readonly $write: unknown }>

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
 * An uninhabited type. `never` fails here: under exactOptionalPropertyTypes a missing member is `never`, so an answer
 * without its body would match another status (TypeScript 5.9, typeRelatedToDiscriminatedType).
 */
export interface Undeclared { readonly 'the contract declares none': never }
