import type { Clock } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Lease, Node } from '@rollkeeper/machinery/kubernetes';
import { readyConditionOf } from '@rollkeeper/machinery/kubernetes';
import type { Informer } from '@rollkeeper/runtime';

/** A check that is this late proves that we were suspended, and says nothing about a node. */
const LATE_MS = 5000;

interface Heard {
  readonly sign: string;
  readonly atMs: number;
}

/**
 * When this replica last saw a heartbeat of each node, by its own clock: the writer's may differ. A renewed Lease or a
 * newer heartbeat in the status counts.
 */
export class Heartbeats {
  private readonly heard = new Map<string, Heard>();
  private readonly dueMs = new Map<string, number>();

  constructor(
    private readonly namespace: string,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Watches until unsubscribed; earlier heartbeats no longer count. */
  follow(nodes: Informer<Node>, leases: Informer<Lease>): () => void {
    this.heard.clear();
    this.dueMs.clear();
    const removals = [
      nodes.addEventHandler(({ object, type }) => {
        if (type === 'deleted') this.forget(object.metadata.name);
        else this.hear(`status/${object.metadata.name}`, signOf(object));
      }),
      leases.addEventHandler(({ object, type }) => {
        const { name, namespace } = object.metadata;
        if (namespace !== this.namespace) return;
        if (type === 'deleted') {
          // One that was renewed after its node was deleted.
          if (nodes.lister.get(name) === undefined) this.forget(name);
          return;
        }
        this.hear(`lease/${name}`, object.spec?.renewTime ?? '');
      }),
    ];
    return () => removals.forEach((remove) => remove());
  }

  /** Whether a node had no heartbeat for `graceMs`; and when to ask again, milliseconds. */
  ask(node: string, graceMs: number): { readonly isSilent: boolean; readonly againInMs: number } {
    const nowMs = this.clock.now();
    const atMs = [`lease/${node}`, `status/${node}`].map((key) => this.heard.get(key)?.atMs ?? 0);
    const silentMs = nowMs - Math.max(...atMs);
    const isLate = nowMs - (this.dueMs.get(node) ?? nowMs) > LATE_MS;
    const isSilent = silentMs >= graceMs && !isLate;
    const againInMs = isSilent ? graceMs : Math.max(graceMs - silentMs, LATE_MS);
    this.dueMs.set(node, nowMs + againInMs);
    return { isSilent, againInMs };
  }

  private hear(key: string, sign: string): void {
    if (this.heard.get(key)?.sign !== sign) this.heard.set(key, { sign, atMs: this.clock.now() });
  }

  private forget(node: string): void {
    this.heard.delete(`status/${node}`);
    this.heard.delete(`lease/${node}`);
    this.dueMs.delete(node);
  }
}

function signOf(node: DeepReadonly<Node>): string {
  return readyConditionOf(node)?.lastHeartbeatTime ?? '';
}
