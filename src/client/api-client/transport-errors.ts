import { ExpectedError } from '@rollkeeper/machinery/errors';

/** No answer: the connection could not be made, broke, or fell silent. `cause` has the details. */
export class ApiConnectionError extends ExpectedError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ApiConnectionError';
  }
}

/** The answer does not follow the Kubernetes API's protocol. */
export class ApiProtocolError extends ExpectedError {
  /** The answer exceeded the size limit. */
  readonly tooLarge: boolean;

  constructor(message: string, options?: ErrorOptions & { readonly tooLarge?: boolean }) {
    super(message, options);
    this.name = 'ApiProtocolError';
    this.tooLarge = options?.tooLarge ?? false;
  }
}
