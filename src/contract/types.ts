// What a contract asks of the code that serves it, as types: a handler per operation, a verifier per security scheme.
// `Ops` is the generated interface `operations`, `C` the generated constants together.

/** One operation as data, as generated/operations.ts holds it. */
export interface Operation {
  readonly method: string
  /** The path template (OpenAPI 3.1, section 4.8.8.2), below the path of its server. */
  readonly url: string
  /** Where the operation or its path has a server of its own. */
  readonly server?: Server
  /** Security Requirement Objects: one of them must hold, and in it all of its schemes (OpenAPI 3.1, section 4.8.30). */
  readonly security: ReadonlyArray<Readonly<Record<string, readonly string[]>>>
  readonly parameters: readonly Parameter[]
  /** The media types are all JSON, and share the schema. */
  readonly body?: { readonly required: boolean, readonly types: readonly string[], readonly schema: object }
  /** By status, range (`2XX`) or `default`. */
  readonly responses: Readonly<Record<string, Response>>
}

/** A parameter in its place's default style (OpenAPI 3.1, section 4.8.12); `explode` matters to arrays in a query. */
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly explode: boolean
  readonly schema: object
}

/** A declared answer; one without a schema has no body. */
export interface Response {
  readonly type?: string
  readonly schema?: object
  readonly headers?: Readonly<Record<string, { readonly required: boolean, readonly schema: object }>>
}

/** A contract as data: the generated constants, together. */
export interface Contract {
  readonly server: Server
  readonly operations: Readonly<Record<string, Operation>>
  readonly schemas: Readonly<Record<string, object>>
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
}

/** Where operations are: the first Server Object, with the defaults of its variables (OpenAPI 3.1, section 4.8.5). */
export interface Server { readonly url: string, readonly variables: Readonly<Record<string, string>> }

/** A Security Scheme Object (OpenAPI 3.1, section 4.8.27), as far as it says how credentials are sent. */
export interface SecurityScheme { readonly type: string, readonly scheme?: string, readonly name?: string, readonly in?: string }

/** A handler for every operation of the contract, and for no other; webhooks have operations too, but nobody asks for them here. */
export type Handlers<Ops, C extends Contract> = { readonly [Id in keyof Ops & keyof C['operations']]: Handler<Ops[Id]> }

/** Turns a valid, authenticated request into one of the answers that the contract declares. */
export type Handler<Op> = (request: Request<Op>) => Promise<AnswerOf<Op>> | AnswerOf<Op>

/** What a handler gets: parameters by place (`path`, `query`, `header`, `cookie`), the body, and who is calling, by security scheme. */
export type Request<Op> = ParametersOf<Op> & { readonly body: BodyOf<Op>, readonly principals: Principals }

type ParametersOf<Op> = Op extends { parameters: infer Places }
  ? { readonly [In in keyof Places as [Places[In]] extends [undefined] ? never : In]-?: NonNullable<Places[In]> } : unknown

type BodyOf<Op> = Op extends { requestBody: infer Body } ? Received<ContentOf<Body>>
  : Op extends { requestBody?: infer Body } ? Received<ContentOf<NonNullable<Body>>> | undefined : undefined

type ContentOf<Message> = Message extends { content: infer Content } ? Content[keyof Content] : never

type AnswerOf<Op> = Op extends { responses: infer Responses }
  ? { [Key in keyof Responses]: Answer<Exclude<StatusesOf<Key>, MoreExact<Key, keyof Responses>>, Responses[Key]> }[keyof Responses] : never

type Answer<Status, Response> = HeadersOf<Response> & (Response extends { content: unknown }
  ? { readonly status: Exclude<Status, Bodiless>, readonly body: Sent<ContentOf<Response>> } : { readonly status: Status, readonly body?: Undeclared })

type HeadersOf<Response> = Response extends { headers: infer Headers } ? Optional<Declared<Headers>> : { readonly headers?: Undeclared }
type Optional<Headers> = [keyof Headers] extends [never] ? { readonly headers?: Undeclared }
  : {} extends Headers ? { readonly headers?: Headers } : { readonly headers: Headers }
/**
 * What no value is. Not `never`: a missing member, which is `never` under exactOptionalPropertyTypes, could then tell answers
 * apart, and an answer of several that lacks its body would pass (TypeScript 5.9, typeRelatedToDiscriminatedType).
 */
interface Undeclared { readonly 'the contract declares none': never }
/** Without the index signature that openapi-typescript adds, and the field that OpenAPI ignores (section 4.8.17). */
type Declared<Headers> = { readonly [Name in keyof Headers as string extends Name ? never : Name extends 'Content-Type' ? never : Name]: Headers[Name] }

/** The statuses that a key of `responses` stands for; a more exact key takes precedence (OpenAPI 3.1, section 4.8.16). */
type StatusesOf<Key> = Key extends number ? Key : Key extends `${infer Hundreds extends Class}XX` ? Range<Hundreds> : Key extends 'default' ? Range<Class> : never
type MoreExact<Key, Keys> = Key extends number ? never : Key extends 'default' ? StatusesOf<Exclude<Keys, 'default'>> : Extract<Keys, number>
type Class = '2' | '3' | '4' | '5'
type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
type Range<Hundreds extends Class> = `${Hundreds}${Digit}${Digit}` extends infer Text ? Text extends `${infer Status extends number}` ? Status : never : never
/** Answers that have no body by their meaning (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5). */
type Bodiless = 204 | 205 | 304

/** A value as a client sends it: without the members that are `readOnly`. The markers are openapi-typescript's. */
type Received<T> = Without<T, { readonly $read: unknown }>
/** A value as the service sends it: without the members that are `writeOnly`, and no others in their place. */
type Sent<T> = Without<T, { readonly $write: unknown }>

type Without<T, Hidden> = T extends { readonly $read: infer Inner } | { readonly $write: infer Inner } ? Without<Inner, Hidden>
  : T extends readonly unknown[] ? { [Index in keyof T]: Without<T[Index], Hidden> }
    : T extends object ? { [Name in keyof T as Name extends HiddenIn<T, Hidden> ? never : Name]: Without<T[Name], Hidden> } & Absent<HiddenIn<T, Hidden>, Hidden>
      : T
type HiddenIn<T, Hidden> = { [Name in keyof T]-?: NonNullable<T[Name]> extends Hidden ? Name : never }[keyof T]
type Absent<Names extends PropertyKey, Hidden> = [Names] extends [never] ? unknown
  : Hidden extends { readonly $write: unknown } ? { readonly [Name in Names]?: Undeclared } : unknown

/** Who is calling. The name tells callers apart in the log and in limits; it is not secret. */
export interface Principal { readonly name: string }

/** By the name of its scheme, whom each scheme of the requirement that was met has recognised. */
export type Principals = Readonly<Record<string, Principal | undefined>>

/** A verifier for every security scheme of the contract, and for no other. */
export type Verifiers<Schemes> = { readonly [Name in keyof Schemes]: Verifier<CredentialsOf<Schemes[Name]>> }

/**
 * Whose credentials these are: `undefined` when they are nobody's, `'forbidden'` when their owner may not do this.
 * Throws only when it cannot tell. The scopes are those that the operation asks for (OpenAPI 3.1, section 4.8.30).
 */
export type Verifier<Credentials> = (credentials: Credentials, scopes: readonly string[]) => Verdict | Promise<Verdict>
export type Verdict = Principal | 'forbidden' | undefined

type CredentialsOf<Scheme> = Scheme extends { type: 'http', scheme: infer Name extends string }
  ? Lowercase<Name> extends 'basic' ? BasicCredentials : string : string

/** RFC 7617, section 2. */
export interface BasicCredentials { readonly username: string, readonly password: string }

/** Verifies a bearer token, an API key or an access token. */
export type TokenVerifier = Verifier<string>
