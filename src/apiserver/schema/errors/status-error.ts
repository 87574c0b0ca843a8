/** A `metav1.Status` of a refusal, as it goes over the wire. */
interface StatusBody {
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

/** The object that a refusal is about; the word is the plural for most reasons, the kind for `Invalid`. */
export interface StatusSubject {
  readonly group: string;
  readonly resource: string;
}

/** Limit of an error message: enough to read, and not a multiple of the request. */
const MAX_MESSAGE_LENGTH = 64 * 1024;
const MAX_CAUSES_LENGTH = 64 * 1024;
/** Each cause may have at least this length, however many there are. */
const MIN_CAUSE_LENGTH = 512;
const MAX_CAUSES = 500;

/** All that an HTTP response can carry: with any other code Node refuses to write one. */
function httpCode(code: number): number {
  return Number.isInteger(code) && code >= 200 && code <= 999 ? code : 500;
}

/** The request is refused; `status` is the whole answer. Everything a handler throws on purpose is one of these. */
export class StatusError extends Error {
  readonly status: StatusBody & { readonly code: number };

  /** @param code one that HTTP does not have is answered as 500 */
  constructor(
    code: number,
    reason: string,
    message: string,
    readonly extra: {
      readonly details?: StatusDetails;
      readonly continueToken?: string;
      /** Answered as this text, in place of a Status. */
      readonly page?: string;
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
      message: shortened(message, MAX_MESSAGE_LENGTH),
      // Without a reason the field is left out, as Go does it.
      ...(reason !== '' && { reason }),
      ...(extra.details && { details: withFewCauses(extra.details) }),
      code: httpCode(code),
    };
  }

  /** The text of an answer that is no Status. */
  get page(): string | undefined {
    return this.extra.page;
  }
}

/** A text of at most `maxLength` characters. A shortened one ends with the number of missing characters. */
export function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength)}… (${text.length - maxLength} more characters)`;
}

function withFewCauses(details: StatusDetails): StatusDetails {
  const { causes } = details;
  if (!causes) return details;
  let room = MAX_CAUSES_LENGTH;
  const few = causes.slice(0, MAX_CAUSES).map(({ message, ...cause }) => {
    if (message === undefined) return cause;
    const text = shortened(message, Math.max(room, MIN_CAUSE_LENGTH));
    room -= text.length;
    return { ...cause, message: text };
  });
  return { ...details, causes: few };
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
    ...(subject.resource !== '' && { kind: subject.resource }),
  };
}
