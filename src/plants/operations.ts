// The operations of the contract, with a rule that it states in words only: the `error` of an error
// body is the status of its response.
import type { components, operations } from '../../generated/types.ts'

/** What handlers and the app use in place of the generated `operations`. */
export type Operations = { [Id in keyof operations]: OperationWithRule<operations[Id]> }

type OperationWithRule<Operation> = {
  [Part in keyof Operation]: Part extends 'responses'
    ? { [Status in keyof Operation[Part]]: ResponseWithRule<Operation[Part][Status], Status> }
    : Operation[Part]
}
type ResponseWithRule<Response, Status> = {
  [Part in keyof Response]: Part extends 'content'
    ? { [Type in keyof Response[Part]]: BodyWithRule<Response[Part][Type], Status> }
    : Response[Part]
}
type BodyWithRule<Body, Status> = Body extends AnyErrorBody
  ? Status extends number ? ErrorBody<Status> : Body
  : Body

type AnyErrorBody = components['schemas']['Error']

/** The contract's Error for a status. */
export interface ErrorBody<Status extends number> extends AnyErrorBody { error: Status }
