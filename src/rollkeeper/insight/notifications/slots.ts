import type { Notification } from './formats/notification.js';

/** The notifications of one Deployment for one channel, in their order. */
export interface Slot {
  readonly key: string;
  readonly namespace: string;
  /** The name of the Secret. */
  readonly channel: string;
  readonly items: Notification[];
  /** Tries of the first item. */
  tries: number;
  /** When the first item is tried next, monotonic milliseconds. */
  dueMs: number;
  isBusy: boolean;
  /** The first item was sent, and that is still to be recorded. */
  isSent: boolean;
}

/** Sockets at once, of all namespaces. */
const MOST_BUSY = 64;
/** A namespace with services that do not answer takes no more of them. */
const MOST_BUSY_OF_NAMESPACE = 4;
const MOST_SLOTS = 5000;
const MOST_ITEMS = 30;
/** Ids that are not sent again although the caches do not show yet that they were. */
const MOST_SEEN = 20_000;

/** The slots of all Deployments: one that waits for its service holds no other. */
export class Slots {
  private readonly slots = new Map<string, Slot>();
  private readonly seen = new Set<string>();

  /**
   * Returns how many notifications had to be given up for it. If there are too many slots, one of the namespace that has the most of
   * them goes: its services that do not answer take no place from others.
   */
  add(channel: string, notification: Notification): number {
    const { id, namespace, uid } = notification;
    const key = `${uid} ${channel}`;
    const once = `${channel} ${id}`;
    if (this.seen.has(once)) return 0;
    this.remember(once);
    const known = this.slots.get(key);
    const given = known || this.slots.size < MOST_SLOTS ? 0 : this.makeRoom(namespace);
    if (given === undefined) return 1;
    const fresh = { tries: 0, dueMs: 0, isBusy: false, isSent: false };
    const slot = known ?? { key, namespace, channel, items: [], ...fresh };
    this.slots.set(key, slot);
    slot.items.push(notification);
    if (slot.items.length <= MOST_ITEMS) return given;
    // The first may be on its way.
    slot.items.splice(1, 1);
    return given + 1;
  }

  /** @returns how many notifications went; undefined if no namespace has more slots than this one would have */
  private makeRoom(namespace: string): number | undefined {
    const idle = [...this.slots.values()].filter(({ isBusy }) => !isBusy);
    const all = Map.groupBy(idle, (slot) => slot.namespace);
    const largest = [...all.values()].reduce<readonly Slot[]>(
      (most, each) => (each.length > most.length ? each : most),
      [],
    );
    // The last has waited for the shortest time.
    const last = largest.at(-1);
    if (!last || largest.length <= (all.get(namespace)?.length ?? 0) + 1) return undefined;
    this.slots.delete(last.key);
    return last.items.length;
  }

  /** Takes the slots that may be tried now, and marks them as busy. */
  take(nowMs: number): readonly Slot[] {
    const busy = new Map<string, number>();
    let all = 0;
    const count = ({ namespace }: Slot): void => {
      all += 1;
      busy.set(namespace, (busy.get(namespace) ?? 0) + 1);
    };
    for (const slot of this.slots.values()) if (slot.isBusy) count(slot);
    const taken: Slot[] = [];
    for (const slot of this.slots.values()) {
      if (all >= MOST_BUSY) break;
      const isFree = (busy.get(slot.namespace) ?? 0) < MOST_BUSY_OF_NAMESPACE;
      if (slot.isBusy || slot.dueMs > nowMs || !isFree) continue;
      slot.isBusy = true;
      count(slot);
      taken.push(slot);
    }
    return taken;
  }

  /** The first item is over. */
  shift(slot: Slot): void {
    slot.items.shift();
    Object.assign(slot, { tries: 0, dueMs: 0, isSent: false });
  }

  /** A slot with nothing left is removed. One with more is behind all others, so that each has its turn. */
  release(slot: Slot): void {
    slot.isBusy = false;
    if (this.slots.get(slot.key) !== slot) return;
    this.slots.delete(slot.key);
    if (slot.items.length > 0) this.slots.set(slot.key, slot);
  }

  /** The time until the next try, milliseconds; undefined: none is planned. */
  untilNext(nowMs: number): number | undefined {
    const times = [...this.slots.values()].filter(({ isBusy }) => !isBusy).map(({ dueMs }) => dueMs - nowMs);
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times));
  }

  clear(): void {
    this.slots.clear();
    this.seen.clear();
  }

  private remember(once: string): void {
    this.seen.add(once);
    if (this.seen.size <= MOST_SEEN) return;
    for (const oldest of this.seen) {
      this.seen.delete(oldest);
      return;
    }
  }
}
