/** On a Deployment or its Namespace: what an eviction of one of its pods does. */
export const ON_EVICTION = 'rollkeeper.dev/on-eviction';
/** Its value: a replacement first. */
export const SURGE = 'surge';

/**
 * On a pod: its eviction was requested. The value is the time of the last request, RFC 3339. Any other value counts
 * until the annotation is removed.
 */
export const EVICTION_ASKED = 'rollkeeper.dev/eviction-asked';

/** A drain asks again every few seconds; after this time without a request it has given up. */
const ASK_LASTS_MS = 300_000;
/** A newer request is not noted within this time of the one before. */
const NOTED_EVERY_MS = 60_000;

/** `Date.parse` takes many a word for a time, `node-1` for one. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

/** How long the pod still counts as one to be evicted, milliseconds; undefined: it does not. */
export function evictionAskedForMs({ metadata }: Annotated, nowMs: number): number | undefined {
  const text = metadata.annotations?.[EVICTION_ASKED];
  if (text === undefined) return undefined;
  const askedMs = RFC_3339.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(askedMs)) return Infinity;
  const leftMs = Math.min(askedMs + ASK_LASTS_MS - nowMs, ASK_LASTS_MS);
  return leftMs > 0 ? leftMs : undefined;
}

/** Whether a request at `nowMs` has to be noted on the pod. */
export function isEvictionToBeNoted(pod: Annotated, nowMs: number): boolean {
  const leftMs = evictionAskedForMs(pod, nowMs);
  return leftMs === undefined || leftMs < ASK_LASTS_MS - NOTED_EVERY_MS;
}
