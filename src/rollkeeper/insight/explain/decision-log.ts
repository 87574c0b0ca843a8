/** One decision about a key, without its inputs. */
export interface LoggedDecision {
  /** Epoch milliseconds. */
  readonly atMs: number;
  readonly controller: string;
  readonly key: string;
  /** The UID of the object that had the key then. Absent: there was none, or it is unknown. */
  readonly uid?: string;
  /** The replica that decided. */
  readonly replica: string;
  /** One sentence each, in the order of the writes. */
  readonly actions: readonly string[];
  /** The error of the sync, if it failed. */
  readonly error?: string;
  /** Why the sync was retried although it did not fail, one sentence. Then `error` is absent. */
  readonly setback?: string;
  readonly traceId?: string;
}

export interface DecisionLogOptions {
  /** Decisions kept per key. @default 20 */
  readonly perKey?: number;
  /** Limit of remembered keys; the one decided longest ago is evicted. @default 5000 */
  readonly keys?: number;
}

/** The last decisions per key, in memory: bounded in keys and in decisions per key. */
export class DecisionLog {
  private readonly byKey = new Map<string, LoggedDecision[]>();
  private readonly listeners = new Set<(decision: LoggedDecision) => void>();
  private readonly perKey: number;
  private readonly keys: number;

  constructor({ keys = 5000, perKey = 20 }: DecisionLogOptions = {}) {
    this.perKey = perKey;
    this.keys = keys;
  }

  /** A repeated failure or setback is one entry: the newest. */
  add(decision: LoggedDecision): void {
    const id = idOf(decision.controller, decision.key);
    const list = this.byKey.get(id) ?? [];
    const last = list.at(-1);
    if (last && repeats(last, decision)) list.pop();
    list.push(decision);
    if (list.length > this.perKey) list.shift();
    this.byKey.delete(id);
    this.byKey.set(id, list);
    if (this.byKey.size > this.keys) {
      const [oldest] = this.byKey.keys();
      if (oldest !== undefined) this.byKey.delete(oldest);
    }
    for (const listener of this.listeners) listener(decision);
  }

  /** Newest first. @param uid of the intended object: another one may have had its key */
  of(controller: string, key: string, uid?: string): readonly LoggedDecision[] {
    const all = (this.byKey.get(idOf(controller, key)) ?? []).toReversed();
    return uid === undefined ? all : all.filter((decision) => isAbout(decision, uid));
  }

  /** The decisions about all keys after `afterMs`, newest first. */
  since(afterMs: number, limit: number): readonly LoggedDecision[] {
    return [...this.byKey.values()]
      .flat()
      .filter(({ atMs }) => atMs > afterMs)
      .sort((a, b) => b.atMs - a.atMs)
      .slice(0, limit);
  }

  /** Returns the unsubscribe. */
  onDecision(listener: (decision: LoggedDecision) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

function idOf(controller: string, key: string): string {
  return `${controller} ${key}`;
}

/** Whether a decision was about the object with this UID, as far as it is known. */
export function isAbout(decision: Pick<LoggedDecision, 'uid'>, uid: string): boolean {
  return decision.uid === undefined || decision.uid === uid;
}

function repeats(before: LoggedDecision, now: LoggedDecision): boolean {
  return (
    (now.error ?? now.setback) !== undefined &&
    before.error === now.error &&
    before.setback === now.setback &&
    before.uid === now.uid &&
    before.actions.join('\n') === now.actions.join('\n')
  );
}
