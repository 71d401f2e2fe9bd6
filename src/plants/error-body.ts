// Builds the contract's Error body, for handlers and all other error responses.
import type { components } from '../../generated/types.ts'

/** @param status the HTTP status, which is also the value of `error` */
export function errorBody (status: number, message: string): components['schemas']['Error'] {
  return { error: status, message }
}
