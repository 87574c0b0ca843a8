import type { HttpSender, RequestSigner, RolloutView } from '@rollkeeper/controllers/deployment';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isAborted, LinkedAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { RolloutEvent } from './decide-rollout-event.js';
import { decideRolloutEvent } from './decide-rollout-event.js';
import type { EventSink } from './event-sink.js';
import { isTold, readTold, recordTold } from './told-events.js';

/** `dropped`: there were too many to keep. */
export type SendResult = 'sent' | 'failed' | 'dropped';

interface RolloutEventsOptions {
  readonly sinks: readonly EventSink[];
  readonly sender: HttpSender;
  readonly signer: RequestSigner;
  readonly client: Pick<ApiClient, 'get' | 'update'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** All Deployments, by keys of the caller. */
  readonly keys: () => readonly string[];
  /** The view of one; undefined if it no longer exists. */
  readonly viewOf: (key: string) => RolloutView | undefined;
  readonly isLeader: () => boolean;
  readonly onResult?: (result: SendResult) => void;
}

/** Deployments that wait for another try. Those that have not been looked at are no more than the caches hold. */
const MOST_RETRIED = 1000;
const AT_ONCE = 4;
const TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = 60_000;
/** How soon a new leader begins. */
const LOOK_AT_LEADERSHIP_MS = 1000;

interface Pending {
  dueMs: number;
  tries: number;
}

/**
 * Notifies the sinks how rollouts end: on the leader, beside the controllers, which wait for none of it. The ReplicaSet records
 * what a sink has received, after it has received it. So each sink gets each event at least once, also over a change of the
 * leader.
 */
export class RolloutEvents {
  private readonly pending = new Map<string, Pending>();
  private wake: (() => void) | undefined;
  private wasLeader = false;

  constructor(private readonly options: RolloutEventsOptions) {}

  /** A Deployment, or what it owns, has changed. */
  note(key: string): void {
    if (!this.options.isLeader()) return;
    const known = this.pending.get(key);
    // A pending retry keeps its time: a change of the Deployment does not bring the sink back.
    if (known && known.tries > 0 && known.dueMs !== Infinity) return;
    this.pending.set(key, { dueMs: 0, tries: known?.tries ?? 0 });
    this.wake?.();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, isLeader, keys } = this.options;
    while (!isAborted(signal)) {
      const leads = isLeader();
      if (leads && !this.wasLeader) for (const key of keys()) this.note(key);
      if (!leads) this.pending.clear();
      this.wasLeader = leads;
      const due = [...this.pending]
        .filter(([, { dueMs }]) => dueMs <= clock.monotonicNow())
        .slice(0, AT_ONCE);
      await Promise.all(due.map(([key, pending]) => this.look(key, pending, signal)));
      if (due.length < AT_ONCE) await this.sleep(signal);
    }
  }

  private get retried(): number {
    return [...this.pending.values()].filter(({ tries }) => tries > 0).length;
  }

  private async look(key: string, pending: Pending, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.options;
    pending.dueMs = Infinity;
    let isDone: boolean;
    try {
      isDone = await this.tell(key, signal);
    } catch (error) {
      if (isAborted(signal)) return;
      isDone = false;
      logger.warn('the event of a rollout could not be recorded as delivered', {
        key,
        error: errorMessage(error),
      });
    }
    const current = this.pending.get(key);
    // Noted again meanwhile: looked at again at once.
    if (current !== pending) return;
    if (isDone) return void this.pending.delete(key);
    if (pending.tries === 0 && this.retried >= MOST_RETRIED) {
      this.pending.delete(key);
      return this.options.onResult?.('dropped');
    }
    pending.tries += 1;
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (pending.tries - 1), LONGEST_RETRY_MS);
    pending.dueMs = clock.monotonicNow() + waitMs;
  }

  /** Returns whether there is nothing left to report. */
  private async tell(key: string, signal: AbortSignal): Promise<boolean> {
    const view = this.options.viewOf(key);
    const event = view && decideRolloutEvent(view);
    if (!event) return true;
    const told = readTold(event.replicaSet.metadata.annotations, event.revision);
    const left = this.options.sinks.filter(({ id }) => !isTold(told, id, event.key));
    const have = await Promise.all(left.map((sink) => this.send(event, sink, signal)));
    const added = left.filter((_sink, index) => have[index]);
    const ids = added.map(({ id }) => id);
    if (ids.length > 0) await recordTold(event, ids, this.options.client, signal);
    return added.length === left.length;
  }

  private async send(event: RolloutEvent, { url }: EventSink, signal: AbortSignal): Promise<boolean> {
    const { logger, onResult, sender, signer } = this.options;
    const { body, id } = event;
    try {
      const headers = {
        'content-type': 'application/cloudevents+json; charset=utf-8',
        ...(await signer.headersOf(id, body)),
      };
      const { status } = await sender.send(
        { method: 'POST', url, headers, body, timeoutMs: TIMEOUT_MS },
        signal,
      );
      if (status < 200 || status > 299) throw new Error(`it answered ${status}`);
      onResult?.('sent');
      return true;
    } catch (error) {
      if (isAborted(signal)) throw error;
      onResult?.('failed');
      const { host } = new URL(url);
      logger.warn('a sink does not take what became of a rollout; trying again', {
        id,
        sink: host,
        error: errorMessage(error),
      });
      return false;
    }
  }

  private async sleep(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    const times = [...this.pending.values()].map(({ dueMs }) => dueMs - clock.monotonicNow());
    const forMs = Math.max(0, Math.min(LOOK_AT_LEADERSHIP_MS, ...times));
    const slept = new LinkedAbort(signal);
    this.wake = () => slept.abort(new Error('something has changed'));
    await clock.sleep(forMs, slept.signal).catch(() => undefined);
    slept.close();
    this.wake = undefined;
  }
}
