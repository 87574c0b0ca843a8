import { ShutdownError, TerminalError } from '../../../src/machinery/errors/index.js';
import { silentLogger } from '../../../src/machinery/logging/index.js';
import { MemoryActorStore } from '../../../src/runtime/activation/memory-actor-store.js';
import type { ActivationAdds, TakenKey } from '../../../src/runtime/activation/activations.js';
import { QueuedActivations } from '../../../src/runtime/activation/queued-activations.js';
import { decideOutcome } from '../../../src/runtime/controller/decide-outcome.js';
import { MemoryWorkQueue } from '../../../src/runtime/work-queue/memory-work-queue.js';
import type { WorkHandler } from '../../../src/runtime/work-queue/index.js';
import { ManualClock } from './manual-clock.js';

const KEY = 'default/web';
const CHANGES = 'deployments.apps';
const ID = { controller: 'deployment', key: KEY };
/** Nothing but time is left of a run's hold on its key. */
const NO_LOCK_MS = 0;

/** A message to the store that has not been executed. */
interface Message {
  readonly what: string;
  readonly deliver: () => Promise<void>;
  readonly lose: () => void;
  /** Executed, and its sender does not learn it. */
  readonly loseAnswer: () => Promise<void>;
}

interface Run {
  readonly taken: TakenKey;
  readonly mustHaveSeen: number;
  sees: number | undefined;
  readonly end: () => void;
  readonly item: Parameters<WorkHandler>[0];
}

/** One action that is possible now. */
export interface Action {
  readonly says: string;
  readonly isFault?: boolean;
  run(): Promise<void> | void;
}

/** The parts of the product around one key: queue, stored causes, the leader's adds, and one run at a time. */
export class QueueWorld {
  private readonly clock = new ManualClock();
  private readonly queue = new MemoryWorkQueue({
    name: ID.controller,
    clock: this.clock,
    options: { maxRetries: 1, backoffBaseMs: 100, backoffMaxMs: 100, bucketBurst: 1000 },
  });
  private readonly actors = new MemoryActorStore(this.clock);
  private readonly activations: QueuedActivations;
  private handler: WorkHandler | undefined;
  private adds: ActivationAdds | undefined;
  private epoch = 0;
  private message: Message | undefined;
  /** The leader adds a change now. */
  private adding = false;
  private mustAdd = false;
  private made = 0;
  private added = 0;
  private seen = 0;
  private run: Run | undefined;
  private wrong: string | undefined;
  /** The queue has lost the leader's term. */
  private hasLost = false;

  constructor(
    private readonly changes: number,
    private faultsLeft: number,
  ) {
    const { actors, clock, queue } = this;
    const over = (what: string, effect: () => Promise<void>): Promise<void> => this.send(what, effect);
    this.activations = new QueuedActivations({
      queue: new Proxy(queue, {
        get(target, property) {
          if (property !== 'beginTerm') {
            const value: unknown = Reflect.get(target, property, target);
            return typeof value === 'function'
              ? (value as (...args: unknown[]) => unknown).bind(target)
              : value;
          }
          return async (term: Parameters<typeof queue.beginTerm>[0]) => {
            const begun = await queue.beginTerm(term);
            return {
              check: () => begun.check(),
              add: (key: string, options: object) => over('adds the key', () => begun.add(key, options)),
            };
          };
        },
      }),
      consumer: {
        isConsuming: true,
        run: async (handler) => void (this.handler = handler),
      },
      actors: {
        activate: () => Promise.reject(new Error('the model has runs of its own')),
        recordCauses: (controller, key, causes) =>
          over('records the causes', () => actors.recordCauses({ controller, key }, causes)),
      },
      ...{ clock, logger: silentLogger },
    });
  }

  async begin(): Promise<void> {
    await this.activations.run(
      (taken) => this.began(taken),
      { concurrency: 1 },
      new AbortController().signal,
    );
    await this.beginTerm();
  }

  get violation(): string | undefined {
    return this.wrong;
  }

  /** Every change that was made is seen by a run that ended well, and the key is not parked. */
  async isAtRest(): Promise<boolean> {
    const { parked } = await this.queue.inspectKey(KEY);
    const isSeen = this.seen === this.made && this.made === this.changes;
    return isSeen && !parked && !this.run && !this.mustAdd && !this.adding;
  }

  async fingerprint(): Promise<string> {
    const { delayed, failures, parked, waiting } = await this.queue.inspectKey(KEY);
    const counts = await this.queue.counts();
    const causes = this.causes();
    return JSON.stringify([
      [
        waiting?.reason,
        waiting?.priority,
        delayed?.reason,
        delayed && delayed.dueMs - this.clock.now(),
        failures,
      ],
      [parked !== undefined, counts.waiting, counts.active],
      [this.made, this.added, this.seen, await causes, this.mustAdd, this.adding, this.message?.what],
      this.run && [
        this.run.mustHaveSeen,
        this.run.sees,
        this.run.item.retries,
        this.run.item.reason,
        this.run.item.comesBack,
      ],
      [this.faultsLeft, this.hasLost, this.wrong],
    ]);
  }

  /** All that can happen next. */
  async actions(): Promise<Action[]> {
    return [
      ...this.ofLeader(),
      ...this.ofRun(),
      ...((await this.queue.counts()).waiting > 0
        ? [{ says: 'A replica takes the key', run: () => this.take() }]
        : []),
      ...(this.clock.hasTimer
        ? [{ says: 'Time passes until a timer fires', run: () => this.clock.next() }]
        : []),
      ...(this.faultsLeft > 0
        ? [fault('The queue loses all data', () => this.spend(() => this.lose()))]
        : []),
    ];
  }

  private ofLeader(): Action[] {
    const { message } = this;
    const actions: Action[] = [];
    if (this.made < this.changes)
      actions.push({
        says: `Change ${this.made + 1} is made`,
        isFault: false,
        run: () => {
          this.made += 1;
          this.mustAdd = true;
        },
      });
    if (this.mustAdd && !this.adding)
      actions.push({ says: 'The leader begins to add the key', run: () => this.add() });
    if (message) {
      const { deliver, lose, loseAnswer, what } = message;
      actions.push({ says: `The leader ${what}`, run: deliver });
      if (this.faultsLeft > 0)
        actions.push(
          fault(`The leader ${what}, and the request is lost`, () => this.spend(lose)),
          fault(`The leader ${what}, and the answer is lost`, () => this.spend(loseAnswer)),
        );
    }
    actions.push({ says: 'The leader checks its term', run: () => this.check() });
    return actions;
  }

  private ofRun(): Action[] {
    const { run } = this;
    if (!run) return [];
    if (run.sees === undefined)
      return Array.from({ length: this.made - run.mustHaveSeen + 1 }, (_, more) => ({
        says: `The run sees what there is up to change ${run.mustHaveSeen + more}`,
        run: () => void (run.sees = run.mustHaveSeen + more),
      }));
    const sees = run.sees;
    const failed =
      (error: Error): (() => Promise<void>) =>
      () =>
        this.spend(() => this.end(run, decideOutcome({ ended: 'failed', error })));
    return [
      {
        says: 'The run ends well',
        run: async () => {
          this.seen = Math.max(this.seen, sees);
          await this.end(run, decideOutcome({ ended: 'ok', result: {} }));
        },
      },
      ...(this.faultsLeft > 0
        ? [
            fault('The run fails', failed(new Error('the API server fails'))),
            fault('The run fails for good', failed(new TerminalError('the object is invalid'))),
            fault('The run is cancelled', failed(new ShutdownError('the replica stops'))),
            fault('The replica of the run is killed, and the key is given back', () =>
              this.spend(() => this.stall(run)),
            ),
          ]
        : []),
    ];
  }

  /** `Enqueuer.flush`: again and again until it is acknowledged. */
  private add(): void {
    const version = this.made;
    this.adding = true;
    this.mustAdd = false;
    const adds = this.adds;
    if (!adds) return;
    adds.addWithCauses(KEY, { versions: { [CHANGES]: String(version) } }, { reason: 'user-change' }).then(
      () => {
        this.adding = false;
        this.added = Math.max(this.added, version);
      },
      () => {
        this.adding = false;
        this.mustAdd = true;
      },
    );
  }

  /** `keepChecking`: a term that does not count any more begins again, with every key. */
  private async check(): Promise<void> {
    await this.adds?.check().catch(() => this.beginTerm());
  }

  private async beginTerm(): Promise<void> {
    this.adds = await this.activations.beginTerm({ epoch: ++this.epoch, holder: 'leader' });
    this.hasLost = false;
    if (this.made > 0) this.mustAdd = true;
  }

  private lose(): void {
    this.queue.loseData();
    this.hasLost = true;
  }

  private async take(): Promise<void> {
    const { handler, queue } = this;
    if (this.run) this.wrong = 'The key is processed twice at the same time';
    const item = queue.takeNext();
    if (!item || !handler) return;
    void handler(item, new AbortController().signal).then(() => queue.done(KEY));
  }

  /** Called for a key that was taken; the run ends when the result resolves. */
  private async began(taken: TakenKey): Promise<void> {
    const mustHaveSeen = await this.causes();
    await new Promise<void>((resolve) => {
      this.run = { taken, mustHaveSeen, sees: undefined, end: resolve, item: taken.item };
    });
  }

  private async end(run: Run, outcome: ReturnType<typeof decideOutcome>): Promise<void> {
    await run.taken.complete(outcome);
    this.run = undefined;
    run.end();
  }

  /** As a queue does whose consumer has died with the key. */
  private async stall(run: Run): Promise<void> {
    const { priority, reason } = run.item;
    this.run = undefined;
    await this.queue.add(KEY, { priority, reason });
    run.end();
  }

  private async causes(): Promise<number> {
    const acquired = await this.actors.acquire(ID, 'model', NO_LOCK_MS);
    return acquired.kind === 'acquired' ? Number(acquired.mustHaveSeen[CHANGES] ?? 0) : 0;
  }

  private send(what: string, effect: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => void (this.message = undefined);
      const lost = (): void => reject(new Error('no answer'));
      this.message = {
        what,
        deliver: async () => {
          done();
          await effect().then(resolve, reject);
        },
        lose: () => {
          done();
          lost();
        },
        loseAnswer: async () => {
          done();
          await effect().then(lost, lost);
        },
      };
    });
  }

  private async spend(act: () => Promise<void> | void): Promise<void> {
    this.faultsLeft -= 1;
    await act();
  }
}

function fault(says: string, run: () => Promise<void>): Action {
  return { says, isFault: true, run };
}
