// How a value is written in texts, and what reads it: for parameters and for forms.
import type { Texts } from '../message/request-texts.ts'
import type { Parameter } from '../types/contract.ts'
import type { Json, TextWriter } from './text-json.ts'
import type { TextSchema } from './text-schema.ts'

/** How the texts of a value are written. */
export interface Notation extends Pick<Parameter, 'name' | 'style' | 'explode'> {
  /** A place of parameters, or `form`. */
  readonly place: string
  readonly schema: TextSchema
  readonly decode: (text: string) => string
  /** Whether an exploded object may not take a name that its schema does not declare. */
  readonly isClaimed: (name: string) => boolean
}

/** Returns undefined where the value is not sent. */
export type StyleReader = (texts: Texts, writer: TextWriter) => Json | undefined
