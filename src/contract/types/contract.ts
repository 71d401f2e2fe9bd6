// A contract as data, as generated/operations.ts holds it. Sections are those of OpenAPI 3.1.

export interface Operation {
  readonly method: string
  /** The path template (section 4.8.8.2), below the path of its server. */
  readonly url: string
  /** Replaces the contract's server for this operation. */
  readonly server?: Server
  /** Security Requirement Objects: all schemes of one must hold (section 4.8.30). */
  readonly security: ReadonlyArray<Readonly<Record<string, readonly string[]>>>
  readonly parameters: readonly Parameter[]
  readonly body?: Body
  /** Whether the contract declares a body to which HTTP gives no meaning. */
  readonly ignoresBody?: boolean
  /** By status, range (`2XX`) or `default`. */
  readonly responses: Readonly<Record<string, Response>>
  /** Header fields of all its responses. */
  readonly fields?: Readonly<Record<string, string>>
  readonly tags?: readonly string[]
  /** The members whose names begin with `x-` (section 4.9). */
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** A parameter and how it is written (section 4.8.12). */
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly style: string
  readonly explode: boolean
  readonly schema: object
  /** Whether the value is a JSON text; otherwise the style says how it is written. */
  readonly isJson?: boolean
  /** How the members of a query are encoded that is one value (OpenAPI 3.2, section 4.12.1). */
  readonly form?: Pick<Media, 'encoding'>
  readonly allowEmptyValue?: boolean
  /** The default of the schema, or of the schema that it refers to. */
  readonly default?: unknown
}

export interface Body { readonly required: boolean, readonly content: Content }

/** Media Type Objects by media type or range, as the contract writes it (section 4.8.14). */
export type Content = Readonly<Record<string, Media>>
export interface Media {
  readonly schema?: object
  /** By name of a member of a form (section 4.8.15). */
  readonly encoding?: Readonly<Record<string, Encoding>>
}
export interface Encoding {
  readonly contentType?: string
  readonly style?: string
  readonly explode?: boolean
}

/** A response that the contract declares; without content it has no body. */
export interface Response {
  readonly content?: Content
  readonly headers?: Readonly<Record<string, Header>>
}

/** A header field in style simple, or as a JSON text (section 4.8.21). */
export interface Header {
  readonly required: boolean
  readonly schema: object
  readonly explode?: boolean
  readonly isJson?: boolean
}

/** Statuses of responses without a body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5). */
export const bodilessStatuses = [204, 205, 304] as const

/** Header fields of the connection and of the end of a response (RFC 9112, sections 6 and 9). */
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

/** A contract with its description, which /docs shows, and the types of its operations. */
export type ServedContract<Ops, C extends Contract> = C & {
  readonly document: { readonly info: { readonly title: string } }
  /** Never set: it carries the generated interface `operations`. */
  readonly types?: Ops | undefined
}

/** Where operations are: the first Server Object with its variables (section 4.8.5). */
export interface Server {
  readonly url: string
  readonly variables: Readonly<Record<string, string>>
}

/** An operation that the contract's owner leaves out: it answers 501. */
export interface SkippedOperation extends Pick<Operation, 'method' | 'url' | 'server'> {
  readonly reason: string
  /** Whether a request can have its path, and it is none of the service's paths. */
  readonly isReachable: boolean
}

/** How credentials are sent: a part of a Security Scheme Object (section 4.8.27). */
export interface SecurityScheme {
  readonly type: string
  readonly scheme?: string
  readonly name?: string
  readonly in?: string
}
