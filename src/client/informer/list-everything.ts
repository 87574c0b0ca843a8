import type { ApiClient, ListOptions, WatchEvent } from '../api-client/index.js';
import { ApiStatusError } from '../api-client/index.js';
import { errorMessage, hasCode } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { ListWay } from './decide-watch-step.js';

/** The part of the API client that informers need. */
export type ListWatcher = Pick<ApiClient, 'list' | 'watch'>;

interface ListRequest<T> {
  readonly client: ListWatcher;
  readonly type: ResourceType;
  readonly scope: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'shard'>;
  readonly pageSize: number;
  /** Shrinks items until the list is complete. */
  readonly receive: (items: readonly T[]) => readonly T[];
  readonly signal: AbortSignal;
}

interface Listed<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** See `ListPage.isShardSelected`. */
  readonly isShardSelected?: boolean | undefined;
}

/** How many times smaller small pages are. */
const SMALLER = 20;
/** A streamed list may take as long as a paged one; only silence ends it. */
const STREAM_TIMEOUT_SECONDS = 600;
const STREAM_SILENCE_MS = 10_000;

/** The server does not stream lists, or does not mark the end of a list. */
export class NotStreamedError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`the server does not stream lists: ${reason}`, options);
    this.name = 'NotStreamedError';
  }
}

/** All current objects, by a consistent read that starts with the call. Throws the client's errors. */
export function listEverything<T extends KubernetesObject>(
  way: ListWay,
  request: ListRequest<T>,
): Promise<Listed<T>> {
  const { pageSize } = request;
  switch (way) {
    case 'streamed':
      return streamed(request);
    case 'pages':
      return paged(request, pageSize);
    case 'small-pages':
      return paged(request, Math.max(1, Math.floor(pageSize / SMALLER)));
    case 'whole':
      return paged(request, undefined);
  }
}

async function paged<T extends KubernetesObject>(
  { client, receive, scope, signal, type }: ListRequest<T>,
  limit: number | undefined,
): Promise<Listed<T>> {
  const items: T[] = [];
  let continueToken: string | undefined;
  for (;;) {
    const page = await client.list<T>(type, { ...scope, limit, continueToken, signal });
    for (const item of receive(page.items)) items.push(item);
    continueToken = page.continueToken;
    if (continueToken !== undefined) continue;
    const { isShardSelected, resourceVersion } = page;
    return { items, resourceVersion, isShardSelected };
  }
}

/**
 * Starts a watch with all existing objects and reads up to the bookmark that ends them (KEP-3157). The stream is closed
 * there: the following watch has a time limit, so that a dead connection is noticed.
 * @throws NotStreamedError
 */
async function streamed<T extends KubernetesObject>(request: ListRequest<T>): Promise<Listed<T>> {
  const { client, scope, signal, type } = request;
  const items = new Map<string, T>();
  try {
    for await (const event of client.watch<T>(type, {
      ...scope,
      resourceVersion: '',
      sendInitialEvents: true,
      timeoutSeconds: STREAM_TIMEOUT_SECONDS,
      idleTimeoutMs: STREAM_SILENCE_MS,
      signal,
    })) {
      if (event.type === 'BOOKMARK') {
        if (!event.endsInitialEvents)
          throw new NotStreamedError('a bookmark came before the end of the list');
        return { items: [...items.values()], resourceVersion: event.resourceVersion };
      }
      collect(items, event, request);
    }
  } catch (error) {
    throw asNotStreamed(error);
  }
  throw new NotStreamedError('the watch ended before the list did');
}

function collect<T extends KubernetesObject>(
  items: Map<string, T>,
  event: Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>,
  { receive }: ListRequest<T>,
): void {
  const key = keyOf(event.object.metadata);
  const [kept] = event.type === 'DELETED' ? [] : receive([event.object]);
  if (kept) items.set(key, kept);
  else items.delete(key);
}

/**
 * The API server answers 422 if the feature is unknown or disabled. A server that ignores it sends the existing objects
 * but no end; pages will show whether it works at all.
 */
function asNotStreamed(error: unknown): unknown {
  const isRefusal = error instanceof ApiStatusError && [400, 422].includes(error.code);
  if (!isRefusal && !hasCode(error, 'TIMEOUT')) return error;
  return new NotStreamedError(errorMessage(error), { cause: error });
}
