import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import { badRequest, expired, resourceVersionTooLarge } from '../../schema/errors/index.js';
import type { ApiResponse } from '../../http/index.js';
import type { RegistryContext } from '../registry/index.js';
import { translateStoreFailure } from '../registry/index.js';
import { parseSelection, parseShardSelector } from '../../kinds/selectors/index.js';
import type { ShardSelector } from '../../kinds/selectors/index.js';
import type { StorageCursor } from '../../storage/index.js';
import { decodeContinueToken, encodeContinueToken, positionOfGenuineToken } from './continue-token.js';
import type { ListPosition, ListScope } from './continue-token.js';
import type { ResourceCall } from './handler.js';
import { checkListOptions, parseLimit, parseVersion } from './list-options.js';
import { listPages } from './list-pages.js';
import { respondWithList } from './list-response.js';

/** `GET` of a collection. */
export async function handleList(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { query } = call.request;
  checkListOptions(query);
  const selection = parseSelection(query, call.kind);
  const shard = parseShardSelector(query);
  // A genuine server answers "any version" from its memory, where it has no pages.
  const limit = isAnyVersion(query) ? undefined : parseLimit(query);
  // A list without a limit never ends early.
  const tokens = limit || query.get('continue') ? await continueTokens(context, call) : undefined;
  const start = await startOf(context, query, tokens);
  const pages = listPages(context, call, selection, { limit, shard, ...start });
  return respondWithList(context, call, pages, ({ next, remaining, revision }) => ({
    resourceVersion: String(revision),
    ...(next && tokens && { continue: tokens.encode(next) }),
    ...(next && selection.all && !shard && { remainingItemCount: remaining }),
    ...shardInfoFor(call, shard),
  }));
}

/** The echo, from which a client knows that it got the objects of its shard alone. Tables and bare metadata have none. */
export function shardInfoFor(
  { accept }: Pick<ResourceCall, 'accept'>,
  shard: ShardSelector | undefined,
): { readonly shardInfo?: { readonly selector: string } } {
  return shard && accept.as === undefined ? { shardInfo: { selector: shard.text } } : {};
}

function isAnyVersion(query: URLSearchParams): boolean {
  return query.get('resourceVersion') === '0' && !query.get('continue');
}

/** The tokens of one list. */
interface ContinueTokens {
  encode(position: ListPosition): string;
  /** @throws StatusError 400 */
  decode(token: string): ListPosition;
}

async function continueTokens(
  { storage }: RegistryContext,
  { kind, namespace }: ResourceCall,
): Promise<ContinueTokens> {
  const scope: ListScope = { resource: qualifiedResource(kind.type), namespace };
  const secret = await storage.secret().catch((error: unknown) => {
    throw translateStoreFailure(error);
  });
  return {
    encode: (position) => encodeContinueToken(secret, scope, position),
    decode: (token) => decodeContinueToken(secret, scope, token),
  };
}

/** The state at which a list begins, and the refusal when that state no longer exists. */
interface ListStart {
  readonly continueFrom?: StorageCursor;
  readonly onExpired?: () => Error;
}

/**
 * Finds the state that `continue`, `resourceVersion` and `resourceVersionMatch` ask for. Our answers always show the
 * newest state, which is "not older than" any state that exists; only `Exact` needs the past.
 */
async function startOf(
  context: RegistryContext,
  query: URLSearchParams,
  tokens: ContinueTokens | undefined,
): Promise<ListStart> {
  const token = query.get('continue');
  if (token && tokens) {
    const foreign = positionOfGenuineToken(token);
    if (foreign) throw expired(INCONSISTENT, tokens.encode(foreign));
    const position = tokens.decode(token);
    if ((query.get('resourceVersion') ?? '0') !== '0')
      throw badRequest('specifying resource version is not allowed when using continue');
    return startAt(context, position, tokens);
  }
  const version = parseVersion(query, 'list');
  if (!version) return {};
  const current = await context.storage.currentRevision();
  if (version > current) throw resourceVersionTooLarge(version, current);
  if (query.get('resourceVersionMatch') !== 'Exact') return {};
  return {
    continueFrom: { revision: version, namespace: '', name: '' },
    onExpired: () => expired('The resourceVersion for the provided list is too old.'),
  };
}

/** If the client's state no longer exists, it may read the rest as it is now, with the token in the refusal. */
async function startAt(
  context: RegistryContext,
  { name, namespace, revision }: ListPosition,
  tokens: ContinueTokens,
): Promise<ListStart> {
  return {
    continueFrom: { revision: revision ?? (await context.storage.currentRevision()), namespace, name },
    onExpired: () => expired(INCONSISTENT, tokens.encode({ namespace, name })),
  };
}

const INCONSISTENT =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
  'deleted between the time the first chunk was returned and now may show up in the list.';
