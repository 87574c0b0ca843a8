import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import { KeyLockLostError } from '@rollkeeper/machinery/errors';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type { ActivateOptions, Activation, ActorRuntime } from '@rollkeeper/runtime/actor';
import type { CoordinationFactory } from '@rollkeeper/runtime/operator/coordination';

/** Which syncs. */
export interface LockMatch {
  /** @default any */
  readonly controller?: string;
  /** `namespace/name`. @default any */
  readonly key?: string;
}

interface Running {
  readonly controller: string;
  readonly key: string;
  lose(): void;
}

/** Syncs that are running and whose lock can be taken away. */
export class LosableLocks {
  private readonly running = new Set<Running>();

  /** The same coordination, with locks that can be lost. */
  around(inner: CoordinationFactory): CoordinationFactory {
    const make: CoordinationFactory = (parts) => {
      const coordination = inner(parts);
      const actors = new LosableActors(coordination.actors, this.running);
      // A prototype keeps the methods of classes, too.
      return Object.create(coordination, { actors: { value: actors } }) as typeof coordination;
    };
    return Object.assign(make, { reach: inner.reach });
  }

  /** The syncs that have lost their lock: `controller key`. */
  lose(match: LockMatch): string[] {
    const lost = [...this.running].filter(
      ({ controller, key }) => (match.controller ?? controller) === controller && (match.key ?? key) === key,
    );
    for (const each of lost) each.lose();
    return lost.map(({ controller, key }) => `${controller} ${key}`);
  }
}

class LosableActors implements ActorRuntime {
  constructor(
    private readonly inner: ActorRuntime,
    private readonly running: Set<Running>,
  ) {}

  async activate<R>(
    controller: string,
    key: string,
    signal: AbortSignal,
    work: (activation: Activation) => Promise<R>,
    options?: ActivateOptions,
  ): Promise<R> {
    const lost = new AbortController();
    const running: Running = {
      controller,
      key,
      lose: () => lost.abort(new KeyLockLostError(`another replica has the lock of ${controller} ${key}`)),
    };
    this.running.add(running);
    const losable = async (activation: Activation): Promise<R> => {
      const either = new LinkedAbort(activation.signal, lost.signal);
      try {
        return await work(new LosableActivation(activation, either.signal, lost.signal));
      } finally {
        either.close();
      }
    };
    try {
      const result = await this.inner.activate(controller, key, signal, losable, options);
      lost.signal.throwIfAborted();
      return result;
    } finally {
      this.running.delete(running);
    }
  }

  recordCauses(controller: string, key: string, causes: ResourceVersions): Promise<void> {
    return this.inner.recordCauses(controller, key, causes);
  }

  forget(controller: string, key: string): Promise<void> {
    return this.inner.forget(controller, key);
  }
}

class LosableActivation implements Activation {
  constructor(
    private readonly inner: Activation,
    readonly signal: AbortSignal,
    private readonly lost: AbortSignal,
  ) {}

  get controller(): string {
    return this.inner.controller;
  }

  get key(): string {
    return this.inner.key;
  }

  get token(): number {
    return this.inner.token;
  }

  get mustHaveSeen(): ResourceVersions {
    return this.inner.mustHaveSeen;
  }

  get intents(): unknown {
    return this.inner.intents;
  }

  get unanswered(): Activation['unanswered'] {
    return this.inner.unanswered;
  }

  assertHeld(): void {
    this.lost.throwIfAborted();
    this.inner.assertHeld();
  }

  async storeIntents(intents: unknown): Promise<void> {
    this.lost.throwIfAborted();
    await this.inner.storeIntents(intents);
  }

  clearIntentsOnRelease(): void {
    if (!this.lost.aborted) this.inner.clearIntentsOnRelease();
  }

  recordOwnWrite(qualifiedResource: string, resourceVersion: string): void {
    this.inner.recordOwnWrite(qualifiedResource, resourceVersion);
  }

  noteUnanswered(write: Parameters<Activation['noteUnanswered']>[0]): void {
    this.inner.noteUnanswered(write);
  }

  settleUnanswered(...settled: Parameters<Activation['settleUnanswered']>): void {
    this.inner.settleUnanswered(...settled);
  }
}
