import { afterEach, describe, expect, it } from 'vitest';
import type {
  ActivateOptions,
  Activation,
  ActorOptions,
  ActorRuntime,
  UnansweredWrite,
} from '@rollkeeper/runtime/activation';
import { LeaseLostError, hasCode } from '@rollkeeper/machinery/errors';
import { ReplicaSet, newerResourceVersion } from '@rollkeeper/machinery/kubernetes';
import { ExclusiveProbe, gate } from './exclusive-probe.js';

/** Actors shared by several replicas. */
export interface ActorHarness {
  /** The runtime of another replica. */
  runtime(): ActorRuntime;
  /** A replica whose own clock is frozen: it neither renews a lock nor notices that it has lost one. */
  frozenRuntime(): ActorRuntime;
  /** Simulates that a newer release has stored the actor's state. */
  setStateVersion(controller: string, key: string, version: number): Promise<void>;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

function anUnansweredWrite(name: string, more: Partial<UnansweredWrite> = {}): UnansweredWrite {
  return {
    verb: 'update',
    type: ReplicaSet,
    ref: { namespace: 'ns', name },
    mayBeUnderWay: true,
    notedAtMs: 1_800_000_000_000,
    ...more,
  };
}

/** Without their age, which is the store's to say. */
function sorted(writes: readonly UnansweredWrite[]): UnansweredWrite[] {
  return writes
    .map(({ ageMs: _age, ...write }) => write)
    .sort((a, b) => a.ref.name.localeCompare(b.ref.name));
}

const CONTROLLER = 'deployment';
const KEY = 'ns/a';
const OTHER_KEY = 'ns/b';
const never = new AbortController().signal;

/** Options of the contract suite. */
export interface ActorContractOptions {
  /**
   * Lock duration, milliseconds. On a real clock it must exceed any delay of a busy machine that is not meant to lose a
   * lock. @default 400
   */
  readonly lockDurationMs?: number;
}

/** The contract of every ActorRuntime implementation. */
export function runActorContract(
  name: string,
  make: (options: ActorOptions) => Promise<ActorHarness>,
  { lockDurationMs: lockMs = 400 }: ActorContractOptions = {},
): void {
  describe(`${name}: the contract of an actor runtime`, () => {
    let harness: ActorHarness;

    const setUp = async (options: ActorOptions = {}): Promise<ActorRuntime> => {
      harness = await make({ lockDurationMs: lockMs, settledTtlMs: 20 * lockMs, ...options });
      return harness.runtime();
    };
    /** Runs an activation that only reads its input. */
    const look = (runtime: ActorRuntime): Promise<Activation> =>
      runtime.activate(CONTROLLER, KEY, never, async (activation) => activation);
    /** A leader that works alone takes each key for interrupted at first. */
    const settle = (runtime: ActorRuntime): Promise<void> =>
      runtime.activate(CONTROLLER, KEY, never, async (activation) => activation.settleInterruption());
    /**
     * State that is not awaited is stored a moment later, or much later on a busy machine; a lock whose release got no
     * answer is held until it expires.
     */
    const lookUntil = async (isStored: (activation: Activation) => boolean): Promise<Activation> => {
      const runtime = harness.runtime();
      let shown = await lookUnlessHeld(runtime);
      for (let looks = 0; !(shown && isStored(shown)) && looks < 100; looks++) {
        await harness.pass(50);
        shown = await lookUnlessHeld(runtime);
      }
      if (!shown) throw new Error('the key was never let go');
      return shown;
    };
    const lookUnlessHeld = async (runtime: ActorRuntime): Promise<Activation | undefined> => {
      try {
        return await look(runtime);
      } catch (error) {
        if (hasCode(error, 'KEY_LOCK_HELD')) return undefined;
        throw error;
      }
    };
    /** Starts an activation that continues until `finish` is called. */
    const begin = async (
      runtime: ActorRuntime,
      options?: ActivateOptions,
      signal: AbortSignal = never,
    ): Promise<{ activation: Activation; finish: () => void; ended: Promise<unknown> }> => {
      const started = gate();
      const finished = gate();
      let begun: Activation | undefined;
      const ended = runtime
        .activate(
          CONTROLLER,
          KEY,
          signal,
          async (activation) => {
            begun = activation;
            started.open();
            await finished.passed;
          },
          options,
        )
        .catch((error: unknown) => error);
      await started.passed;
      return { activation: begun as unknown as Activation, finish: () => finished.open(), ended };
    };

    afterEach(() => harness.close());

    describe('the lock', () => {
      it('gives back what the work returned', async () => {
        const runtime = await setUp();
        expect(await runtime.activate(CONTROLLER, KEY, never, async () => 42)).toBe(42);
      });

      it('gives every activation of a key a greater token, also after everything has expired', async () => {
        const runtime = await setUp({ settledTtlMs: lockMs });
        const tokens = [(await look(runtime)).token, (await look(runtime)).token];
        await harness.pass(lockMs + 50);
        tokens.push((await look(runtime)).token);
        expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
        expect(new Set(tokens).size).toBe(3);
      });

      it('refuses a second activation of a key while one runs, and says for how long', async () => {
        const runtime = await setUp();
        const { finish, ended } = await begin(runtime);
        await expect(look(harness.runtime())).rejects.toMatchObject({
          code: 'KEY_LOCK_HELD',
          retryAfterMs: expect.toSatisfy((ms: number) => ms > 0 && ms <= lockMs) as number,
        });
        finish();
        await ended;
        await look(harness.runtime());
      });

      it('lets other keys and other controllers run at the same time', async () => {
        const runtime = await setUp();
        const { finish, ended } = await begin(runtime);
        expect(await runtime.activate(CONTROLLER, 'ns/b', never, async () => 1)).toBe(1);
        expect(await runtime.activate('replicaset', KEY, never, async () => 2)).toBe(2);
        finish();
        await ended;
      });

      it('keeps the lock of an activation that lasts longer than the lock', async () => {
        const runtime = await setUp();
        const { activation, finish, ended } = await begin(runtime);
        const another = harness.runtime();
        // Often enough to hit the moment right before each renewal.
        for (let looks = 0; looks < 24; looks++) {
          await harness.pass(lockMs / 8);
          await expect(look(another)).rejects.toMatchObject({ code: 'KEY_LOCK_HELD' });
        }
        expect(activation.signal.aborted).toBe(false);
        finish();
        expect(await ended).toBeUndefined();
      });

      it('lets go of the lock when the work throws, and hands its error on', async () => {
        const runtime = await setUp();
        const work = runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          activation.recordOwnWrite('pods', '7');
          throw new Error('no');
        });
        await expect(work).rejects.toThrow('no');
        expect((await look(harness.runtime())).mustHaveSeen).toEqual({ pods: '7' });
      });

      it('does not start work whose signal has aborted', async () => {
        const runtime = await setUp();
        const reason = new Error('stopping');
        let started = false;
        const work = runtime.activate(CONTROLLER, KEY, AbortSignal.abort(reason), async () => {
          started = true;
        });
        await expect(work).rejects.toBe(reason);
        expect(started).toBe(false);
      });

      it('passes the abort of its own signal on to the work, and lets go', async () => {
        const runtime = await setUp();
        const stop = new AbortController();
        const started = gate();
        const work = runtime.activate(CONTROLLER, KEY, stop.signal, async (activation) => {
          started.open();
          await new Promise<void>((resolve) =>
            activation.signal.addEventListener('abort', () => resolve(), { once: true }),
          );
          activation.signal.throwIfAborted();
        });
        await started.passed;
        stop.abort(new Error('stopping'));
        await expect(work).rejects.toThrow('stopping');
        await look(harness.runtime());
      });

      it('never lets two replicas into one key at once', async () => {
        await setUp();
        const probe = new ExclusiveProbe();
        let entered = 0;
        const replica = async (): Promise<void> => {
          const runtime = harness.runtime();
          for (let attempt = 0; attempt < 40; attempt++) {
            const work = runtime.activate(CONTROLLER, KEY, never, () =>
              probe.enter(KEY, async () => {
                entered += 1;
                await new Promise((resolve) => setImmediate(resolve));
              }),
            );
            await work.catch((error: unknown) => {
              if ((error as { code?: string }).code !== 'KEY_LOCK_HELD') throw error;
            });
          }
        };
        await Promise.all([replica(), replica(), replica()]);
        expect(entered).toBeGreaterThan(0);
      });
    });

    describe('a lock that was lost', () => {
      it('goes to another replica once a crashed one has not renewed it for the lock duration', async () => {
        await setUp();
        const crashed = await begin(harness.frozenRuntime());
        await harness.pass(lockMs + 50);
        const successor = await look(harness.runtime());
        expect(successor.token).toBeGreaterThan(crashed.activation.token);
        crashed.finish();
        await crashed.ended;
      });

      it('is an interruption for later activations, on whichever replica, until one has settled it', async () => {
        await settle(await setUp());
        const crashed = await begin(harness.frozenRuntime());
        expect(crashed.activation.followsInterruption).toBe(false);
        await harness.pass(lockMs + 50);
        for (const runtime of [harness.runtime(), harness.runtime()])
          expect((await look(runtime)).followsInterruption).toBe(true);
        await settle(harness.runtime());
        expect((await look(harness.runtime())).followsInterruption).toBe(false);
        crashed.finish();
        await crashed.ended;
      });

      it('is none if it was released, also after work that failed', async () => {
        const runtime = await setUp();
        await settle(runtime);
        const failed = runtime.activate(CONTROLLER, KEY, never, async () => {
          throw new Error('refused');
        });
        await expect(failed).rejects.toThrow('refused');
        expect((await look(harness.runtime())).followsInterruption).toBe(false);
      });

      it('lets a stale activation store nothing, except that its own writes must have been seen', async () => {
        await setUp();
        const stale = await begin(harness.frozenRuntime());
        await harness.pass(lockMs + 50);
        await harness
          .runtime()
          .activate(CONTROLLER, KEY, never, (activation) => activation.storeIntents(['mine']));
        await expect(stale.activation.storeIntents(['stale'])).rejects.toMatchObject({
          code: 'KEY_LOCK_LOST',
        });
        stale.activation.recordOwnWrite('pods', '99');
        stale.activation.clearIntentsOnRelease();
        stale.finish();
        expect(await stale.ended).toMatchObject({ code: 'KEY_LOCK_LOST' });
        expect(await look(harness.runtime())).toMatchObject({
          intents: ['mine'],
          mustHaveSeen: { pods: '99' },
        });
      });

      it('does not let a stale activation let go of its successor’s lock', async () => {
        await setUp();
        const stale = await begin(harness.frozenRuntime());
        await harness.pass(lockMs + 50);
        const successor = await begin(harness.runtime());
        stale.finish();
        await stale.ended;
        await expect(look(harness.runtime())).rejects.toMatchObject({ code: 'KEY_LOCK_HELD' });
        successor.finish();
        expect(await successor.ended).toBeUndefined();
      });
    });

    describe('work that takes too long', () => {
      const limit = { timeoutMs: lockMs, graceMs: lockMs };

      it('is told to end, and counts for nothing, whether it then throws or returns', async () => {
        const runtime = await setUp();
        const told: unknown[] = [];
        const work = (then: () => void) =>
          runtime
            .activate(
              CONTROLLER,
              KEY,
              never,
              async ({ signal }) => {
                await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
                told.push(signal.reason);
                then();
              },
              { limit },
            )
            .catch((error: unknown) => error);
        const returns = work(() => undefined);
        await harness.pass(lockMs + 50);
        expect(await returns).toMatchObject({ code: 'SYNC_TIMEOUT' });
        const throws = work(() => {
          throw new Error('interrupted');
        });
        await harness.pass(lockMs + 50);
        expect(await throws).toMatchObject({ code: 'SYNC_TIMEOUT', cause: { message: 'interrupted' } });
        expect(told).toMatchObject([{ code: 'SYNC_TIMEOUT' }, { code: 'SYNC_TIMEOUT' }]);
        await look(harness.runtime());
      });

      it('keeps its key until the grace time is over and no longer, if it does not listen', async () => {
        const runtime = await setUp();
        const deaf = await begin(runtime, { limit });
        await harness.pass(lockMs + 50);
        expect(deaf.activation.signal.reason).toMatchObject({ code: 'SYNC_TIMEOUT' });
        await expect(look(harness.runtime())).rejects.toMatchObject({ code: 'KEY_LOCK_HELD' });
        await harness.pass(lockMs);
        expect(await deaf.ended).toMatchObject({ code: 'SYNC_TIMEOUT' });
        const successor = await look(harness.runtime());
        expect(successor.token).toBeGreaterThan(deaf.activation.token);
        deaf.finish();
      });

      it('may neither write nor store anything after it was told to end, and after its key was let go', async () => {
        const runtime = await setUp();
        const deaf = await begin(runtime, { limit });
        await deaf.activation.storeIntents(['web-abc']);
        const refused = async (): Promise<void> => {
          expect(() => deaf.activation.assertHeld()).toThrow('took longer than');
          await expect(deaf.activation.storeIntents([])).rejects.toMatchObject({ code: 'SYNC_TIMEOUT' });
          deaf.activation.clearIntentsOnRelease();
        };
        await harness.pass(lockMs + 50);
        await refused();
        await harness.pass(lockMs);
        await deaf.ended;
        await refused();
        expect((await look(harness.runtime())).intents).toEqual(['web-abc']);
        deaf.finish();
      });

      it('leaves its own writes behind, also those that it hears of when its key has been let go', async () => {
        const runtime = await setUp();
        const deaf = await begin(runtime, { limit });
        deaf.activation.recordOwnWrite('pods', '3');
        await harness.pass(2 * lockMs + 100);
        await deaf.ended;
        deaf.activation.recordOwnWrite('deployments.apps', '4');
        const { mustHaveSeen } = await lookUntil((shown) => 'deployments.apps' in shown.mustHaveSeen);
        expect(mustHaveSeen).toEqual({ pods: '3', 'deployments.apps': '4' });
        deaf.finish();
      });

      it('is left to itself as well when it does not listen to another abort', async () => {
        const runtime = await setUp();
        const stop = new AbortController();
        const deaf = await begin(runtime, { limit: { timeoutMs: 60_000, graceMs: lockMs } }, stop.signal);
        stop.abort(new Error('stopping'));
        await harness.pass(lockMs + 50);
        expect(await deaf.ended).toMatchObject({ message: 'stopping' });
        await look(harness.runtime());
        deaf.finish();
      });

      it('has nothing to say in an activation that has ended', async () => {
        const activation = await look(await setUp());
        expect(() => activation.assertHeld()).toThrow('is over');
        await expect(activation.storeIntents([])).rejects.toMatchObject({ code: 'KEY_LOCK_LOST' });
      });
    });

    describe('the state', () => {
      it('starts out empty', async () => {
        expect(await look(await setUp())).toMatchObject({ mustHaveSeen: {}, intents: undefined });
      });

      it('asks to have seen the newest cause and own write of each resource, as numbers', async () => {
        const runtime = await setUp();
        await runtime.recordCauses(CONTROLLER, KEY, { pods: '9' });
        await runtime.recordCauses(CONTROLLER, KEY, { pods: '10' });
        await runtime.recordCauses(CONTROLLER, KEY, { pods: '8' });
        await runtime.recordCauses(CONTROLLER, KEY, { 'deployments.apps': '99' });
        await runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          expect(activation.mustHaveSeen).toEqual({ pods: '10', 'deployments.apps': '99' });
          activation.recordOwnWrite('deployments.apps', '100');
          activation.recordOwnWrite('deployments.apps', '98');
          activation.recordOwnWrite('replicasets.apps', '20');
        });
        await runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          activation.recordOwnWrite('replicasets.apps', '19');
        });
        expect((await look(harness.runtime())).mustHaveSeen).toEqual({
          pods: '10',
          'deployments.apps': '100',
          'replicasets.apps': '20',
        });
      });

      it('asks to have seen both of two versions that cannot be compared, by one name', async () => {
        const runtime = await setUp();
        await runtime.recordCauses(CONTROLLER, KEY, { pods: 'b1', nodes: 'b1', leases: '7' });
        await runtime.recordCauses(CONTROLLER, KEY, { pods: 'a2', nodes: 'b1', leases: '0x8' });
        expect((await look(harness.runtime())).mustHaveSeen).toEqual({
          pods: newerResourceVersion('b1', 'a2'),
          nodes: 'b1',
          leases: newerResourceVersion('7', '0x8'),
        });
        await runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          activation.recordOwnWrite('jobs', 'c1');
          activation.recordOwnWrite('jobs', 'c2');
        });
        expect((await look(harness.runtime())).mustHaveSeen).toMatchObject({
          jobs: newerResourceVersion('c1', 'c2'),
        });
      });

      it('keeps a cause that is recorded during an activation for the next one', async () => {
        const runtime = await setUp();
        const { activation, finish, ended } = await begin(runtime);
        await harness.runtime().recordCauses(CONTROLLER, KEY, { pods: '5' });
        expect(activation.mustHaveSeen).toEqual({});
        finish();
        await ended;
        expect((await look(harness.runtime())).mustHaveSeen).toEqual({ pods: '5' });
      });

      it('gives writes without an answer to the next activation, on whichever replica, until one has settled them', async () => {
        const runtime = await setUp();
        const [lost, failed] = [anUnansweredWrite('web-1'), anUnansweredWrite('web-2', { replaces: '7' })];
        await runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          expect(activation.unanswered).toEqual([]);
          activation.noteUnanswered(lost);
          activation.noteUnanswered(failed);
        });
        await harness.runtime().activate(CONTROLLER, KEY, never, async (activation) => {
          expect(sorted(activation.unanswered)).toEqual([lost, failed]);
          activation.settleUnanswered(lost, '8');
          expect(activation.mustHaveSeen).toEqual({ 'replicasets.apps': '8' });
        });
        const next = await look(runtime);
        expect(sorted(next.unanswered)).toEqual([failed]);
        expect(next.mustHaveSeen).toEqual({ 'replicasets.apps': '8' });
        await runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          activation.settleUnanswered(failed);
        });
        expect((await look(harness.runtime())).unanswered).toEqual([]);
      });

      it('says how long ago a write was recorded, by its own clock and not by that of the replica', async () => {
        const runtime = await setUp();
        const day = 86_400_000;
        const clocks = [
          anUnansweredWrite('ahead', { notedAtMs: Date.parse('2100-01-01') }),
          anUnansweredWrite('behind', { notedAtMs: Date.parse('2000-01-01') }),
        ];
        await runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          for (const write of clocks) activation.noteUnanswered(write);
        });
        await harness.pass(300);
        for (const { ageMs } of (await look(harness.runtime())).unanswered) {
          expect(ageMs).toBeGreaterThanOrEqual(300);
          expect(ageMs).toBeLessThan(day);
        }
        await runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          for (const write of activation.unanswered) activation.settleUnanswered(write);
        });
        expect((await look(harness.runtime())).unanswered).toEqual([]);
      });

      it('keeps a write that is noted again in the activation that settled it', async () => {
        const runtime = await setUp();
        const write = anUnansweredWrite('web-1');
        await runtime.activate(CONTROLLER, KEY, never, async (activation) =>
          activation.noteUnanswered(write),
        );
        await runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          activation.settleUnanswered(write);
          activation.noteUnanswered(write);
        });
        expect(sorted((await look(harness.runtime())).unanswered)).toEqual([write]);
      });

      it('keeps writes without an answer of work that failed, and of an activation that lost its lock', async () => {
        const runtime = await setUp();
        const work = runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          activation.noteUnanswered(anUnansweredWrite('web-1'));
          throw new Error('no answer');
        });
        await expect(work).rejects.toThrow('no answer');
        const stale = await begin(harness.frozenRuntime());
        stale.activation.settleUnanswered(anUnansweredWrite('web-1'));
        stale.activation.noteUnanswered(anUnansweredWrite('web-2'));
        await harness.pass(lockMs + 50);
        await look(harness.runtime());
        stale.finish();
        expect(await stale.ended).toMatchObject({ code: 'KEY_LOCK_LOST' });
        stale.activation.noteUnanswered(anUnansweredWrite('web-3'));
        const { unanswered } = await lookUntil((shown) => shown.unanswered.length >= 3);
        const names = sorted(unanswered).map(({ ref }) => ref.name);
        expect(names).toEqual(['web-1', 'web-2', 'web-3']);
      });

      it('keeps causes of one actor from another', async () => {
        const runtime = await setUp();
        await runtime.recordCauses(CONTROLLER, 'ns/b', { pods: '5' });
        await runtime.recordCauses('replicaset', KEY, { pods: '5' });
        expect((await look(runtime)).mustHaveSeen).toEqual({});
      });

      it('gives intents to the next activation, on whichever replica, until they are cleared', async () => {
        const runtime = await setUp();
        const intents = { create: ['web-abc', 'web-def'], note: 'ü "quoted"', none: [] };
        await runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          await activation.storeIntents(intents);
          expect(activation.intents).toEqual(intents);
        });
        expect((await look(harness.runtime())).intents).toEqual(intents);
        await runtime.activate(CONTROLLER, KEY, never, async (activation) =>
          activation.storeIntents(undefined),
        );
        expect((await look(harness.runtime())).intents).toBeUndefined();
      });

      it('stores intents durably before the activation ends, with the own writes so far', async () => {
        await setUp();
        const crashed = await begin(harness.frozenRuntime());
        crashed.activation.recordOwnWrite('pods', '3');
        await crashed.activation.storeIntents(['web-abc']);
        await harness.pass(lockMs + 50);
        expect(await look(harness.runtime())).toMatchObject({
          intents: ['web-abc'],
          mustHaveSeen: { pods: '3' },
        });
        crashed.finish();
        await crashed.ended;
      });

      it('clears intents with the release when asked, unless new ones were stored since', async () => {
        const runtime = await setUp();
        await runtime.activate(CONTROLLER, KEY, never, async (activation) => {
          activation.clearIntentsOnRelease();
          await activation.storeIntents(['later']);
        });
        expect((await look(runtime)).intents).toEqual(['later']);
        await runtime.activate(CONTROLLER, KEY, never, async (activation) =>
          activation.clearIntentsOnRelease(),
        );
        expect((await look(runtime)).intents).toBeUndefined();
      });

      it('keeps intents for their own time after their last use, and no longer', async () => {
        const idleTtlMs = 10 * lockMs;
        const intentTtlMs = idleTtlMs + lockMs;
        const runtime = await setUp({ idleTtlMs, intentTtlMs, settledTtlMs: lockMs });
        await runtime.activate(CONTROLLER, KEY, never, (activation) => activation.storeIntents(['web-abc']));
        await harness.pass(0.6 * intentTtlMs);
        await runtime.recordCauses(CONTROLLER, KEY, { pods: '5' });
        await harness.pass(0.6 * intentTtlMs);
        expect((await look(runtime)).intents).toEqual(['web-abc']);
        await harness.pass(intentTtlMs + 50);
        expect((await look(runtime)).intents).toBeUndefined();
      });

      it('keeps the state after an activation that left nothing open until every cache shows what was written', async () => {
        const runtime = await setUp({ settledTtlMs: lockMs });
        await runtime.activate(CONTROLLER, KEY, never, async (activation) =>
          activation.recordOwnWrite('pods', '5'),
        );
        expect((await look(runtime)).mustHaveSeen).toEqual({ pods: '5' });
        await harness.pass(lockMs + 50);
        expect((await look(runtime)).mustHaveSeen).toEqual({});
      });

      it('keeps what the next activation must have seen for the idle time after a failed one, which may not have seen it', async () => {
        const runtime = await setUp({ settledTtlMs: lockMs });
        await runtime.recordCauses(CONTROLLER, KEY, { pods: '5' });
        const failing = runtime.activate(CONTROLLER, KEY, never, async () => {
          throw new Error('the cache is behind');
        });
        await expect(failing).rejects.toThrow('behind');
        await harness.pass(lockMs + 50);
        await runtime.recordCauses(CONTROLLER, KEY, { jobs: '6' });
        await harness.pass(lockMs + 50);
        expect((await look(runtime)).mustHaveSeen).toEqual({ pods: '5', jobs: '6' });
      });

      it('keeps causes that no activation takes up, and the state of one that its leader has left, until every cache shows them', async () => {
        const runtime = await setUp({ settledTtlMs: lockMs });
        await runtime.recordCauses(CONTROLLER, KEY, { pods: '5' });
        const ended = runtime.activate(CONTROLLER, OTHER_KEY, never, async (activation) => {
          activation.recordOwnWrite('pods', '7');
          throw new LeaseLostError('another one leads');
        });
        await expect(ended).rejects.toThrow('leads');
        await harness.pass(lockMs + 50);
        expect((await look(runtime)).mustHaveSeen).toEqual({});
        const other = await runtime.activate(CONTROLLER, OTHER_KEY, never, async (a) => a.mustHaveSeen);
        expect(other).toEqual({});
      });

      it('keeps the state for the idle time if it has intents or an unanswered write', async () => {
        const runtime = await setUp({ settledTtlMs: lockMs });
        await runtime.activate(CONTROLLER, KEY, never, async (activation) =>
          activation.noteUnanswered(anUnansweredWrite('web-1')),
        );
        await runtime.activate(CONTROLLER, OTHER_KEY, never, (activation) => activation.storeIntents(['x']));
        await harness.pass(lockMs + 50);
        expect(sorted((await look(runtime)).unanswered)).toEqual([anUnansweredWrite('web-1')]);
        const other = await runtime.activate(CONTROLLER, OTHER_KEY, never, async ({ intents }) => intents);
        expect(other).toEqual(['x']);
      });

      it('leaves an actor whose state a newer release has written to that release', async () => {
        const runtime = await setUp();
        await look(runtime);
        await harness.setStateVersion(CONTROLLER, KEY, 2);
        await expect(look(runtime)).rejects.toMatchObject({
          code: 'NEWER_STATE',
          message: expect.stringContaining('version 2') as string,
        });
        await harness.setStateVersion(CONTROLLER, KEY, 1);
        await look(runtime);
      });
    });
  });
}
