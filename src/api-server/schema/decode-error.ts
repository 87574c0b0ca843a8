/** `malformed`: not a document at all. `wrong-type`: a document, with a value where its type cannot stand. */
export type DecodeProblem = 'malformed' | 'wrong-type';

/**
 * A request body that cannot be read. `message` is the whole text of the Status, in Kubernetes' words; the
 * answer is 400 BadRequest.
 */
export class DecodeError extends Error {
  constructor(
    readonly problem: DecodeProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'DecodeError';
  }
}
