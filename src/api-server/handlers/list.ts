import { apiVersionOf, qualifiedResource } from '../../kubernetes/index.js';
import type { UnstructuredObject } from '../../kubernetes/index.js';
import { badRequest, expired, invalid, resourceVersionTooLarge } from '../errors/index.js';
import type { StatusError } from '../errors/index.js';
import { ok } from '../http/index.js';
import type { ApiResponse } from '../http/index.js';
import { storageKeyOf, translateStoreFailure } from '../registry/index.js';
import type { ObjectTarget, RegistryContext } from '../registry/index.js';
import { parseSelection } from '../selectors/index.js';
import type { Selection } from '../selectors/index.js';
import { StorageExpiredError } from '../storage/index.js';
import type { StorageCursor, StorageListOptions } from '../storage/index.js';
import { presentList } from '../table/index.js';
import { decodeContinueToken, encodeContinueToken } from './continue-token.js';
import type { ResourceCall } from './handler.js';

/** The objects of a collection and where they end. */
export interface SelectedPage {
  readonly items: readonly UnstructuredObject[];
  readonly revision: number;
  readonly next?: StorageCursor;
  readonly remaining: number;
}

/** `GET` of a collection. */
export async function handleList(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { query } = call.request;
  if (query.has('sendInitialEvents')) throw initialEventsForbidden();
  const selection = parseSelection(query, call.kind);
  const limit = parseNumber(query, 'limit');
  const token = query.get('continue');
  const start = token ? decodeContinueToken(token) : await startOf(context, query);
  const page = await selectPage(context, call, selection, { limit, continueFrom: start });
  const metadata = {
    resourceVersion: String(page.revision),
    ...(page.next && { continue: encodeContinueToken(page.next) }),
    ...(page.next && selection.all && { remainingItemCount: page.remaining }),
  };
  const list = {
    kind: `${call.kind.type.kind}List`,
    apiVersion: apiVersionOf(call.kind.type),
    metadata,
    items: page.items,
  };
  return ok(presentList(list, call.kind, call, context.clock.now()));
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

/** Reads pages of the store until `limit` selected objects are together or there are no more. */
export async function selectPage(
  context: RegistryContext,
  { kind, namespace }: Pick<ResourceCall, 'kind' | 'namespace'>,
  selection: Selection,
  { limit, continueFrom }: { readonly limit?: number; readonly continueFrom?: StorageCursor },
): Promise<SelectedPage> {
  if (selection.name && !continueFrom && (namespace !== '' || !kind.type.namespaced)) {
    return selectOne(context, { kind, namespace, name: selection.name }, selection);
  }
  const resource = qualifiedResource(kind.type);
  const scope = kind.type.namespaced && namespace !== '' ? { namespace } : {};
  const items: UnstructuredObject[] = [];
  let cursor = continueFrom;
  for (;;) {
    const options: StorageListOptions = {
      ...scope,
      ...(limit && { limit: limit - items.length }),
      ...(cursor && { continueFrom: cursor }),
    };
    const page = await listPage(context, resource, options);
    for (const stored of page.items) {
      const object = stored.object as UnstructuredObject;
      if (selection.all || selection.matches(object)) items.push(object);
    }
    cursor = page.next;
    if (!cursor || (limit && items.length >= limit)) {
      return { items, revision: page.revision, next: cursor, remaining: page.remaining };
    }
  }
}

/**
 * The list that can have one object only, without reading the others. The state is asked for first: what is found
 * is as new or newer, and then its own version is one that nothing selected lies behind.
 */
async function selectOne(
  context: RegistryContext,
  target: ObjectTarget,
  selection: Selection,
): Promise<SelectedPage> {
  try {
    const revision = await context.storage.currentRevision();
    const stored = await context.storage.get(storageKeyOf(target));
    const object = stored?.object as UnstructuredObject | undefined;
    return {
      items: object && selection.matches(object) ? [object] : [],
      revision: Math.max(revision, stored?.revision ?? 0),
      remaining: 0,
    };
  } catch (error) {
    throw translateStoreFailure(error);
  }
}

async function listPage(context: RegistryContext, resource: string, options: StorageListOptions) {
  try {
    return await context.storage.list(resource, options);
  } catch (error) {
    if (error instanceof StorageExpiredError) {
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
      );
    }
    throw translateStoreFailure(error);
  }
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
