import { badRequest, invalid, resourceVersionTooLarge } from '../errors/index.js';
import type { StatusError } from '../errors/index.js';
import type { ApiResponse } from '../http/index.js';
import type { RegistryContext } from '../registry/index.js';
import { parseSelection } from '../selectors/index.js';
import type { StorageCursor } from '../storage/index.js';
import { decodeContinueToken, encodeContinueToken } from './continue-token.js';
import type { ResourceCall } from './handler.js';
import { listPages } from './list-pages.js';
import { respondWithList } from './list-response.js';

/** `GET` of a collection. */
export async function handleList(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { query } = call.request;
  if (query.has('sendInitialEvents')) throw initialEventsForbidden();
  const selection = parseSelection(query, call.kind);
  const limit = parseNumber(query, 'limit');
  const token = query.get('continue');
  const start = token ? decodeContinueToken(token) : await startOf(context, query);
  const pages = listPages(context, call, selection, { limit, continueFrom: start });
  return respondWithList(context, call, pages, ({ next, remaining, revision }) => ({
    resourceVersion: String(revision),
    ...(next && { continue: encodeContinueToken(next) }),
    ...(next && selection.all && { remainingItemCount: remaining }),
  }));
}

function initialEventsForbidden(): StatusError {
  return invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [
    {
      type: 'FieldValueForbidden',
      field: 'sendInitialEvents',
      message: 'Forbidden: sendInitialEvents is forbidden for list',
    },
  ]);
}

/**
 * What `resourceVersion` and `resourceVersionMatch` ask for. Our answers always show the newest state, which is
 * "not older than" any state that exists; only `Exact` needs the past.
 */
async function startOf(context: RegistryContext, query: URLSearchParams): Promise<StorageCursor | undefined> {
  const version = parseNumber(query, 'resourceVersion');
  const match = query.get('resourceVersionMatch') ?? '';
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    throw badRequest(
      `resourceVersionMatch: Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan"`,
    );
  }
  if (match !== '' && version === undefined) {
    throw badRequest(
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    );
  }
  if (!version) return undefined;
  const current = await context.storage.currentRevision();
  if (version > current) throw resourceVersionTooLarge(version, current);
  return match === 'Exact' ? { revision: version, namespace: '', name: '' } : undefined;
}

/** @throws StatusError 400 for anything but a decimal number; undefined when the parameter is absent or empty */
export function parseNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw badRequest(`${name}: Invalid value: ${JSON.stringify(text)}: must be a number not below 0`);
  }
  return value;
}
