import { findCondition, Pod, transitionTime } from '@rollkeeper/machinery/kubernetes';
import { isAborted } from '@rollkeeper/machinery/cancellation';
import { pause, doublingDelayMs, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Clock } from '@rollkeeper/machinery/clock';
import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ApiClient } from '@rollkeeper/runtime';
import { isConflict, isInvalid, isNotFound } from '@rollkeeper/runtime';
import type { ReadablePod } from '../framework/node-info.js';
import { queueKeyOf } from '../queue/queued-pod.js';

/** The news of an attempt about its pod. */
export interface PodNews {
  /** PodScheduled is false. @default the condition stays */
  readonly refusal?: { readonly reason: 'Unschedulable' | 'SchedulerError'; readonly message: string };
  /** Undefined as a value: none any more. @default it stays */
  readonly nomination?: { readonly node: string | undefined };
}

interface PodStatusWriterParts {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

const WRITES_AT_ONCE = 16;
const RETRY = { firstMs: 250, longestMs: 10_000 };

/**
 * Writes conditions and nominations of pods beside the attempts. The writes for one pod are sequential, and only the
 * latest one counts. A failed write is retried with a growing delay until it succeeds, a newer one replaces it, or the
 * pod no longer exists.
 */
export class PodStatusWriter {
  private readonly limit = new ConcurrencyLimit(WRITES_AT_ONCE);
  private readonly pending = new Map<string, { readonly pod: ReadablePod; readonly news: PodNews }>();
  private readonly running = new Map<string, Promise<void>>();

  constructor(private readonly parts: PodStatusWriterParts) {}

  /** Does nothing where the pod says so already. Newer news of a pod replaces what has not been written. */
  write(pod: ReadablePod, news: PodNews, signal: AbortSignal): void {
    const key = queueKeyOf(pod);
    const before = this.pending.get(key)?.news;
    if (!before && !this.running.has(key) && isKnown(pod, news)) return;
    this.pending.set(key, { pod, news: { ...before, ...news } });
    if (!this.running.has(key)) this.running.set(key, this.run(key, signal));
  }

  /** Called when the pod was deleted or bound: what has not been written no longer matters. */
  forget(pod: ReadablePod): void {
    this.pending.delete(queueKeyOf(pod));
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running.values());
  }

  private async run(key: string, signal: AbortSignal): Promise<void> {
    let failures = 0;
    for (let next = this.pending.get(key); next && !signal.aborted; next = this.pending.get(key)) {
      const { news, pod } = next;
      this.pending.delete(key);
      try {
        await this.limit.run(() => this.patch(pod, news, signal));
        failures = 0;
      } catch (error) {
        if (isAborted(signal) || isNotFound(error) || isConflict(error)) {
          // A status that came meanwhile is about the same pod.
          this.pending.delete(key);
          break;
        }
        const delayMs = doublingDelayMs(failures++, RETRY);
        const facts = { pod: nameOf(pod), error: errorMessage(error), delayMs };
        this.parts.logger.warn('could not write the status of a pod; trying again', facts);
        // A status that the server finds invalid stays so.
        if (isInvalid(error)) continue;
        if (!this.pending.has(key)) this.pending.set(key, next);
        await pause(this.parts.clock, delayMs, signal);
      }
    }
    this.running.delete(key);
  }

  private async patch(
    pod: ReadablePod,
    { nomination, refusal }: PodNews,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, clock } = this.parts;
    const { name, namespace, uid } = pod.metadata;
    const status = {
      ...(refusal && { conditions: [conditionOf(pod, refusal, toRfc3339(clock.now()))] }),
      ...(nomination && { nominatedNodeName: nomination.node ?? null }),
    };
    // The UID makes another pod of that name refuse it.
    const body = { metadata: { uid }, status };
    await client.patch(
      Pod,
      { namespace, name },
      { type: 'strategic', body },
      { subresource: 'status', signal },
    );
  }
}

function conditionOf(pod: ReadablePod, { message, reason }: NonNullable<PodNews['refusal']>, now: string) {
  const before = findCondition(pod.status?.conditions, 'PodScheduled');
  const { generation } = pod.metadata;
  return {
    type: 'PodScheduled',
    status: 'False',
    reason,
    message,
    lastProbeTime: null,
    lastTransitionTime: transitionTime(before, 'False', now),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}

function isKnown({ status }: ReadablePod, { nomination, refusal }: PodNews): boolean {
  const condition = findCondition(status?.conditions, 'PodScheduled');
  const isSaid =
    !refusal ||
    (condition?.status === 'False' &&
      condition.reason === refusal.reason &&
      condition.message === refusal.message);
  return isSaid && (!nomination || (status?.nominatedNodeName ?? '') === (nomination.node ?? ''));
}

export function nameOf({ metadata: { name, namespace = '' } }: ReadablePod): string {
  return `${namespace}/${name}`;
}
