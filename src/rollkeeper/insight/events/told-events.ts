import { isJsonObject, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { TOLD } from '@rollkeeper/controllers/deployment';

/** The events of a revision that each sink has, by {@link EventSink.id}: kept on its ReplicaSet. */
export interface ToldEvents {
  readonly revision: string;
  readonly sinks: Readonly<Record<string, readonly string[]>>;
}

/** A rollout with many steps waits many times. */
const MOST_KEPT = 60;

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

/** The annotation, with an event that these sinks have as well. */
export function withTold({ revision, sinks }: ToldEvents, added: readonly string[], event: string): string {
  const all = Object.fromEntries(
    added.map((sink) => [
      sink,
      [...(sinks[sink] ?? []).filter((each) => each !== event), event].slice(-MOST_KEPT),
    ]),
  );
  return stringifyJson({ revision, sinks: { ...sinks, ...all } });
}
