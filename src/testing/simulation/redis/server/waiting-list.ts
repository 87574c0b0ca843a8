import type { Clock } from '@rollkeeper/machinery/clock';
import type { Keyspace } from '../data/keyspace.js';
import type { Session, Waiting } from './session.js';

/** Sessions that wait for keys, served in the order in which they began to wait. */
export class WaitingList {
  private readonly sessions = new Set<Session>();

  constructor(
    private readonly clock: Clock,
    /** Called after a wait has ended: the session may go on with its requests. */
    private readonly onEnd: (session: Session) => void,
  ) {}

  /** @param timeoutMs 0: for ever */
  add(session: Session, waiting: Omit<Waiting, 'cancel'>, timeoutMs: number, onTimeout: () => void): void {
    const timer =
      timeoutMs > 0
        ? this.clock.setTimeout(() => {
            this.remove(session);
            onTimeout();
            this.onEnd(session);
          }, timeoutMs)
        : undefined;
    session.waiting = { ...waiting, cancel: () => timer?.cancel() };
    this.sessions.add(session);
  }

  remove(session: Session): void {
    session.waiting?.cancel();
    session.waiting = undefined;
    this.sessions.delete(session);
  }

  /** Serves those that wait for keys of a database that got something, key by key. */
  serve(db: number, keyspace: Keyspace): void {
    const served: Session[] = [];
    for (const key of keyspace.ready) {
      keyspace.ready.delete(key);
      for (const session of [...this.sessions]) {
        const { waiting } = session;
        if (waiting?.db !== db || !waiting.keys.includes(key) || !waiting.tryServe()) continue;
        this.remove(session);
        served.push(session);
      }
    }
    for (const session of served) this.onEnd(session);
  }
}
