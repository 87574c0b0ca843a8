import type { Sight } from './caller-sights.js';
import type { FeedEvent, Viewer } from './console-feed.js';

/** The namespace of a key; empty for an object of the cluster, which only users who see all may see. */
export function namespaceOf(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}

/** Of things with keys, those that are seen. */
export async function seenOf<T>(
  sight: Sight,
  things: readonly T[],
  keyOf: (thing: T) => string,
): Promise<readonly T[]> {
  const namespaces = [...new Set(things.map((thing) => namespaceOf(keyOf(thing))))];
  const seen = new Set<string>();
  await Promise.all(
    namespaces.map(async (namespace) => (await sight.sees(namespace)) && seen.add(namespace)),
  );
  return things.filter((thing) => seen.has(namespaceOf(keyOf(thing))));
}

/** An event without what is not seen. */
export async function seenEvent(event: FeedEvent, sight: Sight): Promise<FeedEvent> {
  const byKey = <T extends { readonly key: string }>(things: readonly T[]): Promise<readonly T[]> =>
    seenOf(sight, things, ({ key }) => key);
  switch (event.type) {
    case 'deployments':
      return {
        ...event,
        changed: await byKey(event.changed),
        gone: await seenOf(sight, event.gone, (key) => key),
      };
    case 'decisions':
      return { ...event, decisions: await byKey(event.decisions) };
    case 'cluster': {
      const replicas = event.cluster.replicas.map(async (replica) => ({
        ...replica,
        running: await byKey(replica.running),
      }));
      const queues = event.queues.map(async (queue) => ({ ...queue, parked: await byKey(queue.parked) }));
      return {
        ...event,
        cluster: { ...event.cluster, replicas: await Promise.all(replicas) },
        queues: await Promise.all(queues),
      };
    }
    default:
      return event;
  }
}

/** A viewer that is sent what it may see, in the same order. */
export function seeing(viewer: Viewer, sight: Sight): Viewer {
  let sent: Promise<void> = Promise.resolve();
  return {
    send: (event) => {
      sent = sent.then(async () => viewer.send(await seenEvent(event, sight)));
    },
    drained: async () => {
      await sent;
      await viewer.drained();
    },
  };
}
