import { StatusError, subjectDetails, subjectText } from './status-error.js';
import type { StatusCause, StatusSubject } from './status-error.js';

/** Kubernetes' `field.ErrorType`, used in `details.causes[].reason`. */
export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueDuplicate'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueNotFound'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/** One thing wrong with an object. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** Path in Kubernetes' notation: `spec.template.spec.containers[0].name`. */
  readonly field: string;
  /** The whole text of the cause without the field, as Kubernetes words it: `Required value`, `Invalid value: 0: must be …`. */
  readonly message: string;
  /** Whether the value was already wrong and is unchanged, so it only gets a warning. @default false */
  readonly isKept?: boolean;
}

/**
 * The refusals that a Kubernetes API server knows, each with its code, reason and wording
 * (behaviour of apimachinery's `api/errors` package, and recorded answers of a genuine server).
 */

export function notFound(subject: StatusSubject, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${subjectText(subject)} "${name}" not found`, {
    details: subjectDetails(subject, name),
  });
}

/** The path itself leads nowhere. */
export function unknownPath(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {
    details: {},
  });
}

/** Nothing of ours begins with the path: as a genuine server's multiplexer, which knows no API, says it. */
export function pageNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {
    details: {},
    page: '404 page not found\n',
  });
}

/** @param isGoing the one that is there is being deleted */
export function alreadyExists(subject: StatusSubject, name: string, isGoing = false): StatusError {
  const what = `${isGoing ? 'object is being deleted: ' : ''}${subjectText(subject)} "${name}"`;
  return new StatusError(409, 'AlreadyExists', `${what} already exists`, {
    details: subjectDetails(subject, name),
  });
}

export function conflict(
  subject: StatusSubject,
  name: string,
  problem: string = 'the object has been modified; please apply your changes to the latest version and try again',
): StatusError {
  return new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${subjectText(subject)} "${name}": ${problem}`,
    { details: subjectDetails(subject, name) },
  );
}

/** An apply that would change what others own. */
export function applyConflict(message: string, causes: readonly StatusCause[]): StatusError {
  return new StatusError(409, 'Conflict', message, { details: { causes } });
}

/** @param subject with an empty resource: a path that is no resource's */
export function forbidden(
  subject: StatusSubject,
  name: string,
  problem: string,
  causes?: readonly { reason?: string; message?: string; field?: string }[],
): StatusError {
  if (subject.resource === '')
    return new StatusError(403, 'Forbidden', `forbidden: ${problem}`, { details: {} });
  const object = name === '' ? subjectText(subject) : `${subjectText(subject)} "${name}"`;
  return new StatusError(403, 'Forbidden', `${object} is forbidden: ${problem}`, {
    details: { ...subjectDetails(subject, name), ...(causes && { causes }) },
  });
}

/** @param kind the kind's name, `Deployment`, not the plural */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const subject = { group: kind.group, resource: kind.kind };
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new StatusError(422, 'Invalid', `${subjectText(subject)} "${name}" is invalid: ${list}`, {
    details: {
      ...subjectDetails(subject, name),
      causes: errors.map(({ type, message, field }) => ({ reason: type, message, field })),
    },
  });
}

/** A patch that is well-formed and cannot be carried out. A genuine server keeps to itself why. */
export function unprocessable(cause: unknown): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return new StatusError(422, 'Invalid', message, { details: {}, cause });
}

/** The answer of a genuine server to an error that its own code does not expect: it has no reason. */
export function unexpected(problem: string): StatusError {
  return new StatusError(500, '', problem);
}

export function badRequest(message: string, cause?: unknown): StatusError {
  return new StatusError(400, 'BadRequest', message, { cause });
}

/** A path that no HTTP server understands. */
export function malformedPath(message: string, cause: unknown): StatusError {
  return new StatusError(400, 'BadRequest', message, { cause, page: '400 Bad Request' });
}

export function unauthorized(): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized');
}

export function methodNotAllowed(
  problem: string = 'the server does not allow this method on the requested resource',
): StatusError {
  return new StatusError(405, 'MethodNotAllowed', problem, { details: {} });
}

/** A view of one object where there is a list. @param list the name of its type: `core.PodList` */
export function listNotAcceptable(list: string): StatusError {
  const message = `you requested PartialObjectMetadata, but the requested object is a list (*${list})`;
  return new StatusError(406, 'NotAcceptable', message);
}

/** @param accepted the media types that there are */
export function notAcceptable(
  accepted: readonly string[] = [
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
  ],
): StatusError {
  return new StatusError(
    406,
    'NotAcceptable',
    `only the following media types are accepted: ${accepted.join(', ')}`,
  );
}

/** A page that there is in one form alone. */
export function pageNotAcceptable(available: string): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${available}`;
  return new StatusError(406, 'NotAcceptable', message, { details: {} });
}

/** @param what what is in the way, where it is not the media type itself */
export function unsupportedMediaType(accepted: readonly string[], what = ''): StatusError {
  const format = `an unknown format${what === '' ? '' : ` (${what})`}`;
  return new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in ${format} - accepted media types include: ${accepted.join(', ')}`,
  );
}

/** No patch at all has this media type. */
export function unknownPatchType(): StatusError {
  return new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} });
}

export function expired(message: string, continueToken?: string): StatusError {
  return new StatusError(410, 'Expired', message, { continueToken });
}

export function requestTooLarge(problem: string): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', problem);
}

export function bodyTooLarge(limitBytes: number): StatusError {
  return requestTooLarge(`Request entity too large: limit is ${limitBytes}`);
}

/** A resourceVersion from the future: come back when the store has reached it. */
export function resourceVersionTooLarge(asked: number, current: number): StatusError {
  return new StatusError(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${asked}, current: ${current}`,
    {
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    },
  );
}

/** Nothing has been done; the client may come back. In the words of the genuine server. */
export function tooManyRequests(): StatusError {
  return new StatusError(429, 'TooManyRequests', 'Too many requests, please try again later.', {
    details: { retryAfterSeconds: 1 },
  });
}

/** A pod may not be evicted now. @param cause what its disruption budget lacks */
export function evictionRefused(cause: string, retryAfterSeconds?: number): StatusError {
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  const causes = [{ reason: 'DisruptionBudget', message: cause }];
  return new StatusError(429, 'TooManyRequests', message, {
    details: { causes, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
  });
}

/** A pod is evicted when another one is available. @param cause which is awaited */
export function evictionHeld(cause: string): StatusError {
  const message = 'Cannot evict pod before another one is available in its place.';
  const causes = [{ reason: 'DisruptionBudget', message: cause }];
  return new StatusError(429, 'TooManyRequests', message, { details: { causes } });
}

/** It is ambiguous which of them an eviction counts against. */
export function severalBudgets(): StatusError {
  const message =
    'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
  return new StatusError(500, '', message);
}

export function serviceUnavailable(message: string, cause?: unknown): StatusError {
  return new StatusError(503, 'ServiceUnavailable', message, { details: { retryAfterSeconds: 1 }, cause });
}

/**
 * No kubelet listens: nothing runs on a simulated node.
 * @param url the target of the request; absent for a request that becomes a stream
 */
export function kubeletUnreachable({
  host,
  url,
}: {
  readonly host: string;
  readonly url?: string;
}): StatusError {
  const what = url === undefined ? 'error dialing backend' : `Get "${url}"`;
  return new StatusError(500, '', `${what}: dial tcp ${host}: connect: connection refused`);
}

export function serverTimeout(subject: StatusSubject, operation: string): StatusError {
  return new StatusError(
    500,
    'ServerTimeout',
    `The ${operation} operation against ${subjectText(subject)} could not be completed at this time, please try again.`,
    { details: { ...subjectDetails(subject, operation), retryAfterSeconds: 0 } },
  );
}

export function internalError(problem: string, cause?: unknown): StatusError {
  return new StatusError(500, 'InternalError', `Internal error occurred: ${problem}`, {
    details: { causes: [{ message: problem }] },
    cause,
  });
}
