// The contract's Error, written in one place: for the answers of handlers and for every other error response.
import type { components } from '../../generated/types.ts'

/** @param status the HTTP status, which is also the value of `error` */
export function errorBody (status: number, message: string): components['schemas']['Error'] {
  return { error: status, message }
}
