import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import type { Status } from '../framework/status.js';
import { unschedulable } from '../framework/status.js';
import type { ReadablePod } from '../framework/node-info.js';
import type { WaitingPod, WaitingPods } from '../framework/plugin.js';

/** As in kube-scheduler: no plug-in delays a pod for longer. */
const LONGEST_WAIT_MS = 15 * 60_000;

interface Delay {
  readonly plugin: string;
  /** @default 15 minutes */
  readonly timeoutMs?: number;
}

/** Pods whose binding plug-ins delay, until each of these has allowed it, or one has refused. */
export class PermitQueue implements WaitingPods {
  private readonly waiting = new Map<string, WaitingForPermit>();

  constructor(private readonly clock: Clock) {}

  get(uid: string): WaitingPod | undefined {
    return this.waiting.get(uid);
  }

  list(): readonly WaitingPod[] {
    return [...this.waiting.values()];
  }

  /** @returns undefined when all have allowed it; why not otherwise */
  async wait(pod: ReadablePod, node: string, delays: readonly Delay[]): Promise<Status | undefined> {
    const uid = pod.metadata.uid ?? '';
    if (this.waiting.has(uid)) throw new IllegalStateError(`pod ${uid} waits for its permit already`);
    const one = new WaitingForPermit(pod, node, delays, this.clock);
    this.waiting.set(uid, one);
    try {
      return await one.verdict;
    } finally {
      this.waiting.delete(uid);
    }
  }
}

class WaitingForPermit implements WaitingPod {
  private readonly settled = Promise.withResolvers<Status | undefined>();
  private readonly timers = new Map<string, TimerHandle>();

  constructor(
    readonly pod: ReadablePod,
    readonly node: string,
    delays: readonly Delay[],
    clock: Clock,
  ) {
    for (const { plugin, timeoutMs = LONGEST_WAIT_MS } of delays) {
      const late = (): void => this.reject(plugin, `timed out waiting for its permit (${plugin})`);
      this.timers.set(plugin, clock.setTimeout(late, Math.min(timeoutMs, LONGEST_WAIT_MS)));
    }
  }

  get verdict(): Promise<Status | undefined> {
    return this.settled.promise;
  }

  get pendingPlugins(): readonly string[] {
    return [...this.timers.keys()];
  }

  allow(plugin: string): void {
    this.timers.get(plugin)?.cancel();
    this.timers.delete(plugin);
    if (this.timers.size === 0) this.settled.resolve(undefined);
  }

  reject(plugin: string, reason: string): void {
    for (const timer of this.timers.values()) timer.cancel();
    this.timers.clear();
    this.settled.resolve({ ...unschedulable(reason), plugin });
  }
}
