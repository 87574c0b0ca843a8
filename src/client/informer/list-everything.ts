import type { ApiClient, ListOptions, WatchEvent } from '../api-client/index.js';
import { ApiStatusError } from '../api-client/index.js';
import { errorMessage, hasCode } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { ListWay } from './decide-watch-step.js';

/** The part of the API client that informers need. */
export type ListWatcher = Pick<ApiClient, 'list' | 'watch'>;

export interface ListRequest<T> {
  readonly client: ListWatcher;
  readonly type: ResourceType;
  readonly scope: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>;
  readonly pageSize: number;
  /** Shrinks what is kept until the list is complete. */
  readonly receive: (items: readonly T[]) => readonly T[];
  readonly signal: AbortSignal;
}

export interface Listed<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** Small pages are so many times smaller. */
const SMALLER = 20;
/** A list that is streamed may take as long as one that is paged; silence is what ends it. */
const STREAM_TIMEOUT_SECONDS = 600;
const STREAM_SILENCE_MS = 10_000;

/** The server does not stream lists, or not so that one could tell where the list ends. */
export class NotStreamedError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`the server does not stream lists: ${reason}`, options);
    this.name = 'NotStreamedError';
  }
}

/** Everything that there is now: by a consistent read that begins with the call. Throws what the client throws. */
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
    if (continueToken === undefined) return { items, resourceVersion: page.resourceVersion };
  }
}

/**
 * A watch that begins with everything there is, up to the bookmark that says so (KEP-3157). The stream ends there: what
 * comes after is for a watch whose time is limited, so that a dead connection is noticed.
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
 * 422 is how the API server itself refuses what it does not know or has switched off. One that takes no notice of the wish
 * sends what there is and then nothing, not even the end; pages will tell whether it is there at all.
 */
function asNotStreamed(error: unknown): unknown {
  const isRefusal = error instanceof ApiStatusError && [400, 422].includes(error.code);
  if (!isRefusal && !hasCode(error, 'TIMEOUT')) return error;
  return new NotStreamedError(errorMessage(error), { cause: error });
}
