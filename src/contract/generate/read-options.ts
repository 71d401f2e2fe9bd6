// What a program may ask of the generator when it reads a contract.

/** What the owner of a contract accepts. */
export interface Leniency {
  /** Leave out operations that cannot be served. By default the contract is refused. */
  skipUnsupported?: boolean
  /** Serve operations without security to everyone: by default they are refused. */
  allowOpen?: boolean
}

export interface ReadOptions extends Leniency {
  /** The paths of overlays (OpenAPI Overlay 1.0), which change the contract in this order. */
  overlays?: readonly string[]
  /** The paths that the service answers by itself: a contract cannot have them. */
  ownPaths?: readonly string[]
  /**
   * The type of an integer of format int64: by default `bigint`, which holds all of them. As a
   * `number` it must be within ±(2^53 - 1), in requests and in answers.
   */
  int64?: 'bigint' | 'number'
  /**
   * What emits the types, `openapi-typescript` unless given. `built-in` needs neither that package
   * nor TypeScript 5.9, and has types for lists that contain themselves.
   */
  types?: TypesEmitter | undefined
}

export type TypesEmitter = 'openapi-typescript' | 'built-in'
