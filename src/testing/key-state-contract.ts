import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ShutdownError } from '@rollkeeper/machinery/errors';
import { FakeClock } from '@rollkeeper/machinery/clock';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { ActivationOutcome, TakenKey } from '@rollkeeper/runtime/activation';
import { MemoryActorRuntime } from './memory-actor-runtime.js';
import { QueuedActivations } from '@rollkeeper/runtime/activation';
import type { LeaderAdds, WorkQueueOptions } from '@rollkeeper/runtime/work-queue';
import { gate } from './exclusive-probe.js';
import type { KeyCoverage, KeyEvent, KeyState, KeyWay } from './key-states.js';
import {
  KEY_EVENTS,
  KEY_TABLE,
  LATER,
  MAX_RETRIES,
  REASON_OF,
  UNKNOWN_KEY,
  nextKeyState,
  partOf,
  waysOfKeys,
} from './key-states.js';
import type { KeyStateHarness, TestedWorkQueue } from './work-queue-harness.js';

const HOUR_MS = 3_600_000;
/** The longest waits have these options. They are never due by themselves. */
const OPTIONS = {
  maxRetries: MAX_RETRIES,
  backoffBaseMs: LATER.retry.inHours * HOUR_MS,
  backoffMaxMs: LATER.retry.inHours * HOUR_MS,
  parkedRetryMs: LATER.try.inHours * HOUR_MS,
  bucketBurst: 1_000_000,
} as const;

const OUTCOMES: Readonly<Partial<Record<KeyEvent, ActivationOutcome>>> = {
  done: { action: 'done' },
  'requeue after': { action: 'requeue-after', delayMs: LATER.requeue.inHours * HOUR_MS },
  'come back': { action: 'come-back', delayMs: 0, why: 'test' },
  retry: { action: 'retry', error: new Error('failed'), leastDelayMs: 0 },
  park: { action: 'park', error: new Error('refused') },
};

/** A key on its way through the events. */
interface Traveller {
  readonly key: string;
  readonly way: KeyWay;
  state: KeyState;
  done: number;
  taken?: { readonly key: TakenKey; readonly release: (error?: Error) => void };
}

/**
 * The life of a key is that of `KEY_TABLE`, on every queue: each event in each state leads to the state that it names.
 */
export function runKeyStateContract(
  name: string,
  make: (options?: WorkQueueOptions) => Promise<KeyStateHarness>,
  { coverage }: { readonly coverage: KeyCoverage },
): void {
  describe(`${name}: the states of a key`, () => {
    let world: KeyWorld;

    beforeEach(async () => {
      world = await KeyWorld.start(await make(OPTIONS));
    });
    afterEach(() => world.close());

    it('follow from each event as the table says', async () => {
      const ways = waysOfKeys(coverage);
      expect(new Set(ways.map(({ events }) => events.at(-1)))).toEqual(new Set(KEY_EVENTS));
      const wrong = await world.travel(ways);
      expect(wrong.slice(0, 5)).toEqual([]);
    });
  });
}

/** The table by itself. */
export function describeKeyTable(): void {
  describe('the table of the states of a key', () => {
    const ways = waysOfKeys();
    const states = ways.map(({ end }) => end);

    it('uses each of its rows, and never two at once', () => {
      for (const { event, holds, when } of KEY_TABLE)
        expect([UNKNOWN_KEY, ...states].some(holds), `${event}: ${when}`).toBe(true);
      for (const state of states) for (const event of KEY_EVENTS) nextKeyState(state, event);
    });

    it('parks no key of which a run waits or is in progress', () => {
      for (const { isParked, ...state } of states)
        expect(isParked && partOf({ ...state, isParked }) !== 'idle').toBe(false);
    });

    it('lets a key whose last run ended well be neither parked nor failed', () => {
      for (const { before, end, events } of ways) {
        if (events.at(-1) !== 'done') continue;
        expect({ isParked: end.isParked, failures: end.failures }, events.join(', ')).toEqual({
          isParked: false,
          failures: 0,
        });
        expect(before.running).toBeDefined();
      }
    });

    it('comes to the same whether a change arrives before or after the end of a run that parks', () => {
      for (const { end: state } of ways.filter(({ end }) => end.running && !end.next))
        for (const event of ['park', 'retry'] as const) {
          const before = nextKeyState(nextKeyState(state, 'add') ?? state, event);
          const parked = nextKeyState(state, event);
          if (!parked?.isParked) continue;
          const after = nextKeyState(parked, 'add');
          expect({ ...before, timer: undefined }).toEqual({ ...after, timer: undefined });
        }
    });
  });
}

class KeyWorld {
  private readonly stop = new AbortController();
  private readonly runs: Promise<void>[] = [];
  private readonly byKey = new Map<string, Traveller>();

  private constructor(
    private readonly harness: KeyStateHarness,
    private readonly former: LeaderAdds,
  ) {}

  static async start(harness: KeyStateHarness): Promise<KeyWorld> {
    const former = await harness.queue().beginTerm({ epoch: 1, holder: 'former' });
    await harness.queue().beginTerm({ epoch: 2, holder: 'leader' });
    return new KeyWorld(harness, former);
  }

  /** Returns how each way that ended otherwise did, in words. */
  async travel(ways: readonly KeyWay[]): Promise<readonly string[]> {
    const queue = this.harness.queue();
    const travellers = ways.map((way, index): Traveller => {
      const traveller = { key: `ns/${index}`, way, state: UNKNOWN_KEY, done: 0 };
      this.byKey.set(traveller.key, traveller);
      return traveller;
    });
    const wrong: string[] = [];
    for (let open = travellers; open.length > 0;) {
      for (const traveller of open) await this.goOn(traveller, queue);
      for (const traveller of open)
        if (isThere(traveller)) wrong.push(...(await this.judge(traveller, queue)));
      open = open.filter((traveller) => !isThere(traveller));
      await this.takeAll(open);
    }
    return wrong;
  }

  async close(): Promise<void> {
    this.stop.abort();
    for (const { taken } of this.byKey.values()) taken?.release();
    await Promise.all(this.runs);
    await this.harness.close();
  }

  /** Up to the next time that it is to be taken. */
  private async goOn(traveller: Traveller, queue: TestedWorkQueue): Promise<void> {
    for (; !isThere(traveller); this.step(traveller)) {
      const event = traveller.way.events[traveller.done];
      if (event === 'take' || event === undefined) return;
      await this.play(traveller, event, queue);
    }
  }

  private step(traveller: Traveller): void {
    const event = traveller.way.events[traveller.done++];
    traveller.state = (event && nextKeyState(traveller.state, event)) ?? traveller.state;
  }

  private async play(traveller: Traveller, event: KeyEvent, queue: TestedWorkQueue): Promise<void> {
    const { key, state } = traveller;
    if (event === 'add') return queue.add(key, { reason: 'user-change', priority: 'high' });
    if (event === 'add of a former leader')
      return expect(this.former.add(key)).rejects.toMatchObject({ code: 'SUPERSEDED' });
    if (event === 'add later')
      return queue.addAfter(key, LATER.change.inHours * HOUR_MS, { reason: REASON_OF.change });
    if (event === 'timer') {
      const { cause = 'change', priority } = state.timer ?? {};
      await queue.addAfter(key, 1, { reason: REASON_OF[cause], priority });
      return this.harness.fire(key);
    }
    return this.end(traveller, event, queue);
  }

  /** Ends the run that is in progress, and waits until the queue knows. */
  private async end(traveller: Traveller, event: KeyEvent, queue: TestedWorkQueue): Promise<void> {
    const { taken } = traveller;
    const outcome = OUTCOMES[event];
    if (outcome) await taken?.key.complete(outcome);
    taken?.release(event === 'lost' ? new ShutdownError('lost') : undefined);
    delete traveller.taken;
    const held = (): number => [...this.byKey.values()].filter((each) => each.taken !== undefined).length;
    await this.harness.until(async () => (await queue.counts()).active === held());
  }

  /** A consumer that takes what waits, and nothing that is added later. */
  private async takeAll(open: readonly Traveller[]): Promise<void> {
    if (open.length === 0) return;
    const over = new AbortController();
    const activations = new QueuedActivations({
      queue: this.harness.queue(),
      consumer: this.harness.consumer(),
      actors: new MemoryActorRuntime({ clock: new FakeClock() }),
      clock: new FakeClock(),
      logger: silentLogger,
    });
    const options = { concurrency: this.byKey.size };
    this.runs.push(activations.run((taken) => this.hold(taken), options, over.signal));
    await this.harness.until(() => open.every(({ taken }) => taken !== undefined));
    over.abort();
    for (const traveller of open) this.step(traveller);
  }

  private async hold(key: TakenKey): Promise<void> {
    const traveller = this.byKey.get(key.item.key);
    if (!traveller || this.stop.signal.aborted) return;
    const released = gate();
    let error: Error | undefined;
    traveller.taken = {
      key,
      release: (why) => {
        error = why;
        released.open();
      },
    };
    await released.passed;
    if (error) throw error;
  }

  private async judge({ key, state, taken, way }: Traveller, queue: TestedWorkQueue): Promise<string[]> {
    const view = await queue.inspectKey(key);
    const found = {
      hasRun: view.hasJob,
      waits: view.waiting?.reason,
      later: view.delayed?.reason,
      failures: view.failures,
      isParked: view.parked !== undefined,
      ...(state.running && { retries: taken?.key.item.retries, comesBack: taken?.key.item.comesBack }),
    };
    const wanted = {
      hasRun: partOf(state) !== 'idle',
      waits: state.next && REASON_OF[state.next.cause],
      later: state.timer && REASON_OF[state.timer.cause],
      failures: state.failures,
      isParked: state.isParked,
      ...(state.running && { retries: state.running.retries, comesBack: state.running.comesBack }),
    };
    const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)];
    return is === should ? [] : [`${way.events.join(', ')}: ${is}, and not ${should}`];
  }
}

function isThere({ done, way }: Traveller): boolean {
  return done === way.events.length;
}
