import { ExpectedError } from '@rollkeeper/machinery/errors';

/** The fields of a `metav1.Status` that clients act on. */
export interface ApiStatus {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly {
      readonly reason?: string;
      readonly message?: string;
      readonly field?: string;
    }[];
    readonly retryAfterSeconds?: number;
  };
}

/** The server answered with an error status. */
export class ApiStatusError extends ExpectedError {
  constructor(
    readonly status: ApiStatus,
    options?: ErrorOptions,
  ) {
    super(status.message ?? `the server answered ${status.code} ${status.reason ?? ''}`.trim(), options);
    this.name = 'ApiStatusError';
  }

  get code(): number {
    return this.status.code;
  }

  get reason(): string {
    return this.status.reason ?? '';
  }

  /** The delay that the server asks for, milliseconds. */
  get retryAfterMs(): number | undefined {
    const seconds = this.status.details?.retryAfterSeconds;
    return seconds === undefined ? undefined : seconds * 1000;
  }
}

/** An ERROR event inside a watch: what the watch has shown may have gaps, so list again. */
export class WatchErrorEvent extends ApiStatusError {
  constructor(status: ApiStatus, options?: ErrorOptions) {
    super(status, options);
    this.name = 'WatchErrorEvent';
  }
}

/** There is no such object, namespace or resource (404). */
export const isNotFound = statusPredicate((status) => status.code === 404);
/** The object itself does not exist. A bare 404 does not show whether the type is served. */
export const isObjectNotFound = statusPredicate(
  (status) => status.code === 404 && (status.details?.name ?? '') !== '',
);
/** An object of that name exists (409). */
export const isAlreadyExists = statusPredicate((status) => status.reason === 'AlreadyExists');
/** The object has another resourceVersion than the write expects, or another manager owns a field (409). */
export const isConflict = statusPredicate(
  (status) => status.code === 409 && status.reason !== 'AlreadyExists',
);
/** The resourceVersion or continue token is too old: list again. */
export const isExpired = statusPredicate((status) => status.code === 410);
/** The account lacks the right, or admission refuses (403). */
export const isForbidden = statusPredicate((status) => status.code === 403);
/** The object fails validation (422). */
export const isInvalid = statusPredicate((status) => status.code === 422);
/** The server, or a disruption budget, asks for a later attempt (429). */
export const isTooManyRequests = statusPredicate((status) => status.code === 429);

/** The creation was refused because its namespace is being deleted. */
export const isNamespaceTerminating = statusPredicate(
  (status) =>
    status.code === 403 &&
    (status.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating'),
);

/** The server's answer, if `error` or anything in its chain of causes is one. */
export function apiStatusOf(error: unknown): ApiStatus | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof ApiStatusError) return current.status;
  }
  return undefined;
}

function statusPredicate(matches: (status: ApiStatus) => boolean): (error: unknown) => boolean {
  return (error) => {
    const status = apiStatusOf(error);
    return status !== undefined && matches(status);
  };
}

/** The result of a request, or undefined if the object no longer exists. */
export async function unlessGone<R>(asked: Promise<R>): Promise<R | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
