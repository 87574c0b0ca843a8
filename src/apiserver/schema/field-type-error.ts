import type { FieldDecoder } from './field-decoder.js';

/** A value whose type is not allowed at its position; `message` in the words of Go's JSON decoder. */
export class FieldTypeError extends Error {
  /** @param found the value, and what it should have been; absent where another message says it in any case */
  constructor(
    message: string,
    readonly found?: {
      readonly value: unknown;
      readonly field: FieldDecoder;
      /** The error of a type that decodes itself. */
      readonly alone?: string;
    },
  ) {
    super(message);
  }
}
