import type { Activation } from '../activation/index.js';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { WriteInterceptingClient, isNotFound, listAll } from '@rollkeeper/client/api-client';
import type {
  DeepReadonly,
  KubernetesObject,
  LabelSelector,
  ObjectRef,
  ResourceType,
  ResourceVersions,
} from '@rollkeeper/machinery/kubernetes';
import {
  isEmptySelector,
  newestOfEach,
  ownerUids,
  parseLabelSelector,
  qualifiedResource,
  selectorText,
} from '@rollkeeper/machinery/kubernetes';
import { classifyFailure } from './classify-failure.js';
import type { InformerByResource } from './caught-up.js';
import { assertCaughtUp } from './caught-up.js';
import type { SyncAccess } from './reconciler.js';

/** A kind whose objects the reconciled ones control. */
export interface OwnedResource {
  readonly kind: ResourceType;
  /** Whether the owner's `spec.selector` selects them all. */
  readonly isSelected: boolean;
}

/** The kinds that a controller writes about one of its keys, as far as its decisions depend on them. */
export interface WrittenKinds {
  /** The kind of the reconciled object itself. @default its own object is not read again */
  readonly own?: ResourceType;
  readonly owned: readonly OwnedResource[];
}

/** The parts of {@link settleInterruption}. */
export interface InterruptionParts {
  readonly ref: ObjectRef;
  /** Reads from the server, not a cache. */
  readonly client: Pick<ApiClient, 'list'>;
  readonly informerOf: InformerByResource;
  readonly kinds: WrittenKinds;
  /** The cached object of the key, which controls the owned ones. */
  readonly object: DeepReadonly<KubernetesObject> | undefined;
}

/**
 * Finds out what an interrupted activation has written, which no process may know: reads the object and those that it controls once
 * from the server, without their contents. The versions become own writes, so that this activation and every later one, on
 * whichever replica, must have seen them. A list that the server refuses for good keeps nothing from being written: the right may never
 * come, such as that to list an owned kind in all namespaces for an owner that is in none.
 * @returns whether everything is known; otherwise the next activation follows the interruption as well
 * @throws StaleCacheError if the caches here do not show them yet; other errors of the reads: no write is allowed then
 */
export async function settleInterruption(
  activation: Pick<Activation, 'recordOwnWrite' | 'settleInterruption'>,
  parts: InterruptionParts,
): Promise<boolean> {
  const { informerOf, ref } = parts;
  const reads = [ownVersion(parts), ...parts.kinds.owned.map((each) => ownedVersion(parts, each))];
  const answers = await Promise.all(reads.map(unlessRefused));
  const found = answers.filter((each) => each !== undefined);
  const versions = found.reduce<ResourceVersions>((all, each) => newestOfEach(all, each), {});
  for (const [resource, version] of Object.entries(versions)) activation.recordOwnWrite(resource, version);
  const isKnown = found.length === answers.length;
  if (isKnown) activation.settleInterruption();
  assertCaughtUp(versions, informerOf, { namespace: ref.namespace });
  return isKnown;
}

/** The versions that were read; undefined if a retry would be refused as well: a right is missing, or the kind is not served so. */
async function unlessRefused(read: Promise<ResourceVersions>): Promise<ResourceVersions | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isNotFound(error) || classifyFailure(error) !== 'transient') return undefined;
    throw error;
  }
}

/**
 * The access of a sync that follows an interruption: `settle` is called once, before anything is written, and nothing is if it
 * rejects.
 */
export function settledBeforeWrites(access: SyncAccess, settle: () => Promise<void>): SyncAccess {
  let settled: Promise<void> | undefined;
  const beforeWrites = (): Promise<void> => (settled ??= settle());
  const { client, intents } = access;
  return {
    ...access,
    beforeWrites,
    client: new WriteInterceptingClient(client, async (_write, send) => {
      await beforeWrites();
      return send();
    }),
    intents: {
      ...intents,
      store: async (value) => {
        await beforeWrites();
        await intents.store(value);
      },
    },
  };
}

/** The read is a list: a controller that caches a kind may list it, and not every one may get a single object. */
async function ownVersion({
  client,
  informerOf,
  kinds: { own: type },
  ref: { name, namespace },
}: InterruptionParts): Promise<ResourceVersions> {
  if (!type || !informerOf(qualifiedResource(type))) return {};
  const fieldSelector = `metadata.name=${name.replaceAll(/[\\,=]/g, String.raw`\$&`)}`;
  const { items } = await client.list<KubernetesObject>(type, {
    namespace,
    fieldSelector,
    metadataOnly: true,
  });
  const found = items.find(({ metadata }) => metadata.name === name);
  return found ? versionOf(type, found) : {};
}

async function ownedVersion(
  { client, informerOf, object, ref: { namespace } }: InterruptionParts,
  { isSelected, kind }: OwnedResource,
): Promise<ResourceVersions> {
  const uid = object?.metadata.uid;
  if (uid === undefined || !informerOf(qualifiedResource(kind))) return {};
  const labelSelector = object && isSelected ? selectorOf(object) : undefined;
  const all = await listAll<KubernetesObject>(client, kind, {
    namespace,
    metadataOnly: true,
    ...(labelSelector && { labelSelector }),
  });
  return all
    .filter((each) => ownerUids(each).includes(uid))
    .reduce<ResourceVersions>((newest, each) => newestOfEach(newest, versionOf(kind, each)), {});
}

/** The selector of an owner as the query of a list has it; undefined if it selects everything, or nothing that a server understands. */
function selectorOf(owner: DeepReadonly<KubernetesObject>): string | undefined {
  const { selector } =
    (owner as { readonly spec?: { readonly selector?: DeepReadonly<LabelSelector> } }).spec ?? {};
  if (isEmptySelector(selector)) return undefined;
  const text = selectorText(selector);
  try {
    parseLabelSelector(text);
    return text;
  } catch {
    return undefined;
  }
}

function versionOf(kind: ResourceType, { metadata }: Pick<KubernetesObject, 'metadata'>): ResourceVersions {
  const { resourceVersion } = metadata;
  return resourceVersion === undefined ? {} : { [qualifiedResource(kind)]: resourceVersion };
}
