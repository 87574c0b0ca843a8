import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ApiStatus } from './api-status-error.js';
import type { CredentialHeaders } from './cluster-connection.js';
import { ApiStatusError } from './api-status-error.js';
import { dropNulls } from './drop-nulls.js';
import { ApiProtocolError } from './transport-errors.js';

/** A complete response. */
export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  /** The header Retry-After in milliseconds. */
  readonly retryAfterMs?: number;
  readonly etag?: string;
  /** The header Date, epoch milliseconds. */
  readonly dateMs?: number;
  readonly text: string;
  /** `GET https://…/path`, for errors. */
  readonly request: string;
  /** The credentials of the request. */
  readonly credentials: CredentialHeaders;
}

/** Limit of the excerpt of an unknown body in an error. */
const EXCERPT_LENGTH = 200;

/**
 * The object in a successful answer. Its type is what the request asks for: the server has validated it.
 * @throws ApiStatusError if the server refused; ApiProtocolError if a success is not JSON
 */
export function parseAnswer<T>(answer: HttpAnswer): T {
  if (answer.status >= 400 || answer.status < 200) throw statusErrorOf(answer);
  const body = tryParse(answer.text);
  if (body === undefined) {
    throw new ApiProtocolError(
      `${answer.request}: the server answered ${answer.status} with ${describeBody(answer)}`,
    );
  }
  return dropNulls(body, answer.text) as T;
}

/** The error in an answer. A body that is not a `metav1.Status` (a proxy's page, plain text) is shown as an excerpt. */
export function statusErrorOf(answer: HttpAnswer): ApiStatusError {
  const body = tryParse(answer.text);
  const details =
    answer.retryAfterMs === undefined ? undefined : { retryAfterSeconds: answer.retryAfterMs / 1000 };
  if (!isStatus(body)) {
    const message = `${answer.request}: the server answered ${answer.status} with ${describeBody(answer)}`;
    return new ApiStatusError({ code: answer.status, message, details });
  }
  return new ApiStatusError({
    ...toApiStatus(body),
    code: answer.status,
    details: { ...body.details, ...details },
  });
}

/** A `metav1.Status` from the wire. */
export function toApiStatus(body: unknown): ApiStatus {
  if (!isStatus(body)) return { code: 500, message: 'the server reported an error without a status' };
  return {
    code: body.code ?? 500,
    reason: body.reason,
    message: body.message,
    details: body.details,
  };
}

function isStatus(body: unknown): body is Partial<ApiStatus> {
  return isJsonObject(body) && body['kind'] === 'Status';
}

/** `undefined` if it is not a JSON object. */
function tryParse(text: string): unknown {
  try {
    const value: unknown = parseJson(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function describeBody({ text, contentType }: HttpAnswer): string {
  if (text === '') return 'an empty body';
  return `${contentType || 'no content type'} instead of JSON: ${JSON.stringify(excerptOf(text))}`;
}

/**
 * An object that has at least a name and type, which caches rely on.
 * @throws ApiProtocolError for anything else
 */
export function identified<T extends KubernetesObject>(value: unknown, where: string): T {
  const { metadata }: { metadata?: { name?: unknown } | null } = value ?? {};
  if (typeof metadata?.name === 'string') return value as T;
  throw new ApiProtocolError(
    `${where}: an object without a name: ${excerptOf(stringifyJson(value ?? null))}`,
  );
}

/** A list from the wire; servers without versions send no resourceVersion. */
interface WireList<T extends KubernetesObject> {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly shardInfo?: { readonly selector: string };
  };
  readonly items?: T[];
}

/**
 * A list, and nothing that could be mistaken for an empty one.
 * @throws ApiProtocolError for anything else
 */
export function listIn<T extends KubernetesObject>(body: unknown, where: string): WireList<T> {
  const { items, kind = 'List', metadata }: Record<string, unknown> = isJsonObject(body) ? body : {};
  // A list without items must have a resourceVersion; an empty object or a Status is not a list.
  const hasItems = Array.isArray(items) || (items === undefined && typeof metadata === 'object' && metadata);
  if (!hasItems || !String(kind).endsWith('List'))
    throw new ApiProtocolError(`${where}: no list: ${excerptOf(stringifyJson(body ?? null))}`);
  if (Array.isArray(items)) for (const item of items) identified(item, where);
  return body as WireList<T>;
}

function excerptOf(text: string): string {
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
}
