import { TOLD } from '@rollkeeper/controllers/deployment';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isConflict, isNotFound } from '@rollkeeper/client/api-client';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, isJsonObject, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';

/** The events of a revision that each receiver has, by its id: kept on the ReplicaSet of the revision. */
export interface ToldEvents {
  readonly revision: string;
  readonly sinks: Readonly<Record<string, readonly string[]>>;
}

/** An event of a revision, and the ReplicaSet that records who has it. */
export interface TellableEvent {
  readonly key: string;
  readonly revision: string;
  readonly replicaSet: DeepReadonly<ReplicaSet>;
}

/** A rollout with many steps has many events; older ones are no longer current. */
const MOST_KEPT = 60;
const MOST_WRITES = 5;

/** None if nothing was reported of this revision, or nothing that can be read. */
export function readTold(
  annotations: Readonly<Record<string, string>> | undefined,
  revision: string,
): ToldEvents {
  const none: ToldEvents = { revision, sinks: {} };
  const text = annotations?.[TOLD];
  if (text === undefined) return none;
  try {
    const read: unknown = parseJson(text);
    if (!isJsonObject(read) || read['revision'] !== revision || !isJsonObject(read['sinks'])) return none;
    const sinks = Object.entries(read['sinks']).flatMap(([sink, events]) =>
      Array.isArray(events) ? [[sink, events.filter((event) => typeof event === 'string')] as const] : [],
    );
    return { revision, sinks: Object.fromEntries(sinks) };
  } catch {
    return none;
  }
}

export function isTold({ sinks }: ToldEvents, sink: string, event: string): boolean {
  return Object.hasOwn(sinks, sink) && sinks[sink]?.includes(event) === true;
}

/** The annotation, with an event that these receivers have as well. */
function withTold({ revision, sinks }: ToldEvents, added: readonly string[], event: string): string {
  const all = Object.fromEntries(
    added.map((sink) => [
      sink,
      [...(sinks[sink] ?? []).filter((each) => each !== event), event].slice(-MOST_KEPT),
    ]),
  );
  return stringifyJson({ revision, sinks: { ...sinks, ...all } });
}

/**
 * Records that these receivers have an event. A ReplicaSet that no longer exists records nothing, and its revision has no more
 * events.
 */
export async function recordTold(
  { key, replicaSet: { metadata }, revision }: TellableEvent,
  receivers: readonly string[],
  client: Pick<ApiClient, 'get' | 'update'>,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const live = await client.get<ReplicaSet>(ReplicaSet, metadata, { signal });
      if (live.metadata.uid !== metadata.uid) return;
      const text = withTold(readTold(live.metadata.annotations, revision), receivers, key);
      const annotations = { ...live.metadata.annotations, [TOLD]: text };
      await client.update<ReplicaSet>(
        ReplicaSet,
        { ...live, metadata: { ...live.metadata, annotations } },
        { signal },
      );
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === MOST_WRITES) throw error;
    }
  }
}
