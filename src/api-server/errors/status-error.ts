/** A `metav1.Status` of a refusal, as it goes over the wire. */
export interface StatusBody {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** Which object a refusal is about; the word is the plural for most reasons, the kind for `Invalid`. */
export interface StatusSubject {
  readonly group: string;
  readonly resource: string;
}

/** The request is refused; `status` is the whole answer. Everything a handler throws on purpose is one of these. */
export class StatusError extends Error {
  readonly status: StatusBody & { readonly code: number };

  constructor(
    code: number,
    reason: string,
    message: string,
    readonly extra: {
      readonly details?: StatusDetails;
      readonly continueToken?: string;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: extra.cause });
    this.name = 'StatusError';
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: extra.continueToken === undefined ? {} : { continue: extra.continueToken },
      status: 'Failure',
      message,
      reason,
      ...(extra.details && { details: extra.details }),
      code,
    };
  }
}

/** `deployments.apps`: how messages name a resource. */
export function subjectText(subject: StatusSubject): string {
  return subject.group === '' ? subject.resource : `${subject.resource}.${subject.group}`;
}

/** `details` of a refusal about one object. */
export function subjectDetails(subject: StatusSubject, name: string): StatusDetails {
  return {
    ...(name !== '' && { name }),
    ...(subject.group !== '' && { group: subject.group }),
    kind: subject.resource,
  };
}
