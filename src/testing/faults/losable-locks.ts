import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import { KeyLockLostError } from '@rollkeeper/machinery/errors';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type {
  Activation,
  ActivationAdds,
  Activations,
  ControllerQueue,
  TakeOptions,
  TakenKey,
  WorkLimit,
} from '@rollkeeper/runtime/activation';
import type { Coordination, CoordinationFactory } from '@rollkeeper/runtime/operator/coordination';
import type { LeaderTerm } from '@rollkeeper/runtime/work-queue';

/** The syncs that lose their locks. */
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
      const activationsOf: Coordination['activationsOf'] = (...args) =>
        new LosableActivations(coordination.activationsOf(...args), this.running);
      // A prototype keeps the methods of classes, too.
      return Object.create(coordination, { activationsOf: { value: activationsOf } }) as typeof coordination;
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

class LosableActivations implements Activations {
  readonly name: string;
  readonly queue: ControllerQueue;
  readonly dropKeys?: () => void;

  constructor(
    private readonly inner: Activations,
    private readonly running: Set<Running>,
  ) {
    this.name = inner.name;
    this.queue = inner.queue;
    if (inner.dropKeys) this.dropKeys = () => inner.dropKeys?.();
  }

  get isConsuming(): boolean {
    return this.inner.isConsuming;
  }

  beginTerm(term: LeaderTerm): Promise<ActivationAdds> {
    return this.inner.beginTerm(term);
  }

  run(handle: (taken: TakenKey) => Promise<void>, options: TakeOptions, signal: AbortSignal): Promise<void> {
    return this.inner.run((taken) => handle(this.losable(taken)), options, signal);
  }

  private losable(taken: TakenKey): TakenKey {
    return {
      item: taken.item,
      signal: taken.signal,
      activate: (work, limit) => this.activate(taken, work, limit),
      complete: (outcome) => taken.complete(outcome),
    };
  }

  private async activate<R>(
    taken: TakenKey,
    work: (activation: Activation) => Promise<R>,
    limit?: WorkLimit,
  ): Promise<R> {
    const lost = new AbortController();
    const { name: controller } = this;
    const { key } = taken.item;
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
      const result = await taken.activate(losable, limit);
      lost.signal.throwIfAborted();
      return result;
    } finally {
      this.running.delete(running);
    }
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

  get followsInterruption(): boolean {
    return this.inner.followsInterruption;
  }

  settleInterruption(): void {
    this.inner.settleInterruption();
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
