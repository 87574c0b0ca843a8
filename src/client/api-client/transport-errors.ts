/** No answer came: the connection could not be made, broke, or fell silent. `cause` has the details. */
export class ApiConnectionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ApiConnectionError';
  }
}

/** Something answered, but not in the Kubernetes API's language. */
export class ApiProtocolError extends Error {
  /** The answer was larger than anything that is held in memory at once. */
  readonly tooLarge: boolean;

  constructor(message: string, options?: ErrorOptions & { readonly tooLarge?: boolean }) {
    super(message, options);
    this.name = 'ApiProtocolError';
    this.tooLarge = options?.tooLarge ?? false;
  }
}
