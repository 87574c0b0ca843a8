import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import { doublingDelayMs, parseGoDurationMs } from '@rollkeeper/machinery/clock';
import { containerAnnotation } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';

/** How long the pull of an image takes that the node does not have, as `5s`. */
export const IMAGE_PULL_AFTER_ANNOTATION = 'node.rollkeeper.dev/image-pull-after';
/** How many pulls fail before one succeeds; `always`: all of them. */
export const IMAGE_PULL_FAILURES_ANNOTATION = 'node.rollkeeper.dev/image-pull-failures';

/** How an image comes to a node. */
export interface ImagePull {
  readonly takesMs: number;
  /** `Infinity`: it never comes. */
  readonly failures: number;
}

/** At once, the default. */
export const NO_PULL: ImagePull = { takesMs: 0, failures: 0 };

/** The stage of a pull, and its end, milliseconds from its start. */
interface PullStage {
  readonly stage: 'pulling' | 'failed' | 'backing-off' | 'done';
  readonly untilMs: number;
}

/** Backoff of image pulls: 10 s, doubled up to 5 min. Source: the kubelet's defaults. */
const BACKOFF = { firstMs: 10_000, longestMs: 300_000 };
/** How long a failed pull is shown as ErrImagePull before ImagePullBackOff. */
const ERROR_SHOWN_MS = 2_000;

type Container = DeepReadonly<Pick<coreV1.Container, 'name' | 'image' | 'imagePullPolicy'>>;

/** @param pullsAfterMs how long pulls take on the node, where the pod does not say it */
export function imagePullOf(pod: DeepReadonly<Pod>, { name }: Container, pullsAfterMs = 0): ImagePull {
  const after = containerAnnotation(pod.metadata, IMAGE_PULL_AFTER_ANNOTATION, name);
  const failures = containerAnnotation(pod.metadata, IMAGE_PULL_FAILURES_ANNOTATION, name)?.trim() ?? '0';
  return {
    takesMs: (after === undefined ? undefined : parseGoDurationMs(after)) ?? pullsAfterMs,
    failures: failures === 'always' ? Infinity : /^\d{1,6}$/.test(failures) ? Number(failures) : 0,
  };
}

/** The first pull is shown as such; later ones under the backoff before them, as in a kubelet's status. */
export function decidePull({ failures, takesMs }: ImagePull, elapsedMs: number): PullStage {
  let triedMs = 0;
  for (let attempt = 0; ; attempt++) {
    const backoffMs = doublingDelayMs(attempt, BACKOFF);
    const endsMs = triedMs + takesMs;
    if (attempt >= failures) {
      if (elapsedMs >= endsMs) return { stage: 'done', untilMs: endsMs };
      return { stage: attempt === 0 ? 'pulling' : 'backing-off', untilMs: endsMs };
    }
    if (elapsedMs < endsMs) return { stage: attempt === 0 ? 'pulling' : 'backing-off', untilMs: endsMs };
    const shownUntilMs = endsMs + ERROR_SHOWN_MS;
    if (elapsedMs < shownUntilMs) return { stage: 'failed', untilMs: shownUntilMs };
    triedMs = endsMs + backoffMs;
    if (elapsedMs < triedMs) return { stage: 'backing-off', untilMs: triedMs };
  }
}
