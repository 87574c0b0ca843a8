import type { ShownSpan } from '@rollkeeper/opentelemetry';
import type { Sight } from './caller-sights.js';
import type { FeedEvent, Viewer } from './feed-events.js';

/**
 * An answer without what it says about objects that are not seen. Each part that has a `key` (`namespace/name`, or a name for an
 * object of the cluster) or a `namespace` is about that object; lists lose such a part, at any depth. The rest is left as
 * it is.
 */
export async function seenAnswer<T>(answer: T, sight: Sight): Promise<T> {
  const seen = await seenNamespaces(namespacesIn(answer), sight);
  return pruned(answer, seen) as T;
}

/** The spans about objects that are seen. A span that names no object is left out: another one may have caused it. */
export async function seenSpans(spans: readonly ShownSpan[], sight: Sight): Promise<readonly ShownSpan[]> {
  const seen = await seenNamespaces(
    spans.flatMap(({ attributes }) => namespacesOfSpan(attributes)),
    sight,
  );
  const isSeen = ({ attributes }: Pick<ShownSpan, 'attributes'>): boolean => {
    const namespaces = namespacesOfSpan(attributes);
    return namespaces.length > 0 && namespaces.every((namespace) => seen.has(namespace));
  };
  return spans
    .filter(isSeen)
    .map(({ events, ...span }) => ({ ...span, ...(events && { events: events.filter(isSeenEvent(seen)) }) }));
}

/** An event of the console's stream without what is not seen. */
async function seenEvent(event: FeedEvent, sight: Sight): Promise<FeedEvent> {
  if (event.type !== 'deployments') return seenAnswer(event, sight);
  const { gone, left = [] } = event;
  const seen = await seenNamespaces([...gone, ...left].map(namespaceOf), sight);
  const isSeen = (key: string): boolean => seen.has(namespaceOf(key));
  return {
    ...(await seenAnswer(event, sight)),
    gone: gone.filter(isSeen),
    ...(event.left && { left: left.filter(isSeen) }),
  };
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

/** The namespace of a key; empty for an object of the cluster, which only users who see all may see. */
function namespaceOf(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}

/** The namespace of the object that a part of an answer is about. Undefined: it is about none. */
function namespaceOfPart(part: object): string | undefined {
  const { key, namespace }: { readonly key?: unknown; readonly namespace?: unknown } = part;
  if (typeof key === 'string') return namespaceOf(key);
  return typeof namespace === 'string' ? namespace : undefined;
}

function namespacesIn(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(namespacesIn);
  if (typeof part !== 'object' || part === null) return [];
  const own = namespaceOfPart(part);
  return own === undefined ? Object.values(part).flatMap(namespacesIn) : [own];
}

function pruned(part: unknown, seen: ReadonlySet<string>): unknown {
  if (Array.isArray(part))
    return part.filter((item) => isShown(item, seen)).map((item) => pruned(item, seen));
  if (typeof part !== 'object' || part === null || namespaceOfPart(part) !== undefined) return part;
  const fields = Object.entries(part).filter(([, value]) => isShown(value, seen));
  return Object.fromEntries(fields.map(([name, value]) => [name, pruned(value, seen)]));
}

function isShown(part: unknown, seen: ReadonlySet<string>): boolean {
  if (typeof part !== 'object' || part === null) return true;
  const namespace = namespaceOfPart(part);
  return namespace === undefined || seen.has(namespace);
}

const KEY_ATTRIBUTES = ['rollkeeper.key', 'k8s.object.key'];

function namespacesOfSpan(attributes: Readonly<Record<string, unknown>>): string[] {
  return KEY_ATTRIBUTES.flatMap((name) => {
    const key = attributes[name];
    return typeof key === 'string' ? [namespaceOf(key)] : [];
  });
}

/** An event of a seen span that names no other object belongs to the span's own. */
function isSeenEvent(seen: ReadonlySet<string>): (event: Pick<ShownSpan, 'attributes'>) => boolean {
  return ({ attributes }) => namespacesOfSpan(attributes).every((namespace) => seen.has(namespace));
}

async function seenNamespaces(namespaces: readonly string[], sight: Sight): Promise<ReadonlySet<string>> {
  const asked = [...new Set(namespaces)];
  const answers = await Promise.all(asked.map((namespace) => sight.sees(namespace)));
  return new Set(asked.filter((_, index) => answers[index]));
}
