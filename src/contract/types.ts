// What a contract asks of the code that serves it, as types: a handler per operation, a verifier per security scheme.
// `Ops` is the generated interface `operations`, `Schemes` the generated constant `securitySchemes`.

/** One operation as data, as generated/operations.ts holds it. */
export interface Operation {
  readonly method: string
  readonly url: string
  /** Security Requirement Objects: one of them must hold, and in it all of its schemes (OpenAPI 3.1, section 4.8.30). */
  readonly security: ReadonlyArray<Readonly<Record<string, readonly string[]>>>
  readonly body?: { readonly required: boolean, readonly schema: object }
  /** By status; an answer without a schema has no body. */
  readonly responses: Readonly<Record<string, { readonly schema?: object }>>
}

/** A contract as data: the generated constants, together. */
export interface Contract {
  readonly operations: Readonly<Record<string, Operation>>
  readonly schemas: Readonly<Record<string, object>>
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
}

export interface SecurityScheme { readonly type: string, readonly scheme?: string }

/** A handler for every operation of the contract, and for no other. */
export type Handlers<Ops> = { readonly [Id in keyof Ops]: Handler<Ops[Id]> }

/** Turns a valid, authenticated request into one of the answers that the contract declares. */
export type Handler<Op> = (request: { readonly body: BodyOf<Op>, readonly principal: Principal | undefined }) => Promise<AnswerOf<Op>> | AnswerOf<Op>

type BodyOf<Op> = Op extends { requestBody: { content: { 'application/json': infer Body } } } ? Body
  : Op extends { requestBody?: { content: { 'application/json': infer Body } } } ? Body | undefined : undefined

type AnswerOf<Op> = Op extends { responses: infer Responses }
  ? { [Status in keyof Responses]: Answer<Status, Responses[Status]> }[keyof Responses] : never

type Answer<Status, Response> = Response extends { content: { 'application/json': infer Body } }
  ? { status: Status, body: Body } : { status: Status, body?: never }

/** Who is calling. The name tells tokens apart in the log and in limits; it is not secret. */
export interface Principal { readonly name: string }

/** A verifier for every security scheme of the contract, and for no other. */
export type Verifiers<Schemes> = { readonly [Name in keyof Schemes]: VerifierOf<Schemes[Name]> }

type VerifierOf<Scheme> = Scheme extends { type: 'http', scheme: 'bearer' } ? BearerVerifier : never

/** Whose bearer token this is; undefined when it is nobody's. Throws only when it cannot tell. */
export type BearerVerifier = (token: string) => Principal | undefined | Promise<Principal | undefined>
