import { describe, expect, it } from 'vitest';
import type { Enqueue, SyncKey } from '../controller/index.js';
import { LeaseLostError, ShutdownError, SupersededError } from '../../machinery/errors/index.js';
import { Pod } from '../../machinery/kubernetes/index.js';
import { ManagerHarness } from './manager-harness.fixture.js';
import { waitFor } from '../../testing/wait-for.js';

function setUp(reconcileOn: 'all' | 'leader', reconcile?: SyncKey) {
  const watched: Enqueue[] = [];
  const watch = (enqueue: Enqueue) => {
    watched.push(enqueue);
    return () => void watched.splice(watched.indexOf(enqueue), 1);
  };
  const harness = new ManagerHarness([{ reconcile, built: { watch } }], { reconcileOn });
  const [{ controller, queue, reconciled }] = harness.controllers as [(typeof harness.controllers)[0]];
  const { clock, elector, manager, running, stop } = harness;
  const end = () => harness.end();
  return { clock, controller, elector, end, manager, queue, reconciled, running, stop, watched };
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );

describe('a replica', () => {
  it('works on keys whether it leads or not, where all reconcile', async () => {
    const { controller, end, queue, reconciled } = setUp('all');
    await waitFor(() => controller.isConsuming);
    await queue.add('ns/a');
    await waitFor(() => reconciled.includes('ns/a'));
    await end();
    expect(controller.isConsuming).toBe(false);
  });

  it('leaves keys to the leader for spreadAfterMs, and takes them at once while it leads', async () => {
    const harness = new ManagerHarness([{ spreadAfterMs: 250 }], { reconcileOn: 'all' });
    const [{ controller, queue, reconciled }] = harness.controllers as [(typeof harness.controllers)[0]];
    await waitFor(() => controller.isConsuming);
    await queue.add('ns/a');
    await harness.clock.advance(249);
    expect(reconciled).toEqual([]);
    await harness.clock.advance(1);
    await waitFor(() => reconciled.includes('ns/a'));
    void harness.elector.win(1);
    await queue.add('ns/b');
    await waitFor(() => reconciled.includes('ns/b'));
    await harness.end();
  });

  it('works on keys while it leads and at no other time, where only the leader reconciles', async () => {
    const { controller, elector, end, manager, queue, reconciled } = setUp('leader');
    await waitFor(() => manager.state === 'running');
    await queue.add('ns/a');
    expect(controller.isConsuming).toBe(false);
    void elector.win(1);
    await waitFor(() => reconciled.includes('ns/a'));
    await elector.lose(new LeaseLostError('taken'));
    expect(controller.isConsuming).toBe(false);
    await queue.add('ns/b');
    expect(reconciled).toEqual(['ns/a']);
    void elector.win(2);
    await waitFor(() => reconciled.includes('ns/b'));
    await end();
  });

  it('leads a controller only with current caches, where a leader cannot know what the former one wrote', async () => {
    const waits: AbortSignal[] = [];
    let becomeCurrent = (): void => undefined;
    const informer = {
      type: Pod,
      hasSynced: true,
      waitForSync: async () => undefined,
      waitUntilCurrent: (signal: AbortSignal) => {
        waits.push(signal);
        return Promise.race([
          new Promise<void>((resolve) => (becomeCurrent = resolve)),
          untilAborted(signal),
        ]);
      },
    };
    let watches = 0;
    const watch = () => {
      watches += 1;
      return () => void (watches -= 1);
    };
    const sketch = { needs: [informer], worksOn: 'leader' as const, built: { watch } };
    const handover = { name: 'test', needsCurrentCaches: true };
    const harness = new ManagerHarness([sketch], { handover });
    const { elector, manager } = harness;
    const [{ controller }] = harness.controllers as [(typeof harness.controllers)[0]];
    await waitFor(() => manager.state === 'running');
    void elector.win(1);
    await waitFor(() => waits.length === 1);
    await elector.lose(new LeaseLostError('taken'));
    expect(waits[0]?.aborted).toBe(true);
    void elector.win(2);
    await waitFor(() => waits.length === 2);
    expect(controller.isConsuming).toBe(false);
    expect(watches).toBe(0);
    becomeCurrent();
    await waitFor(() => controller.isConsuming);
    expect(watches).toBe(1);
    await harness.end();

    const heedless = new ManagerHarness([sketch], { handover: { name: 'test' } });
    await waitFor(() => heedless.manager.state === 'running');
    void heedless.elector.win(1);
    await waitFor(() => watches === 1);
    expect(waits).toHaveLength(2);
    await heedless.end();
  });

  it('keeps no key of a queue in its memory once it no longer leads', async () => {
    const harness = new ManagerHarness([{ worksOn: 'leader', waitsIn: 'local' }]);
    const { elector, manager } = harness;
    const [{ queue, reconciled }] = harness.controllers as [(typeof harness.controllers)[0]];
    await waitFor(() => manager.state === 'running');
    void elector.win(1);
    await queue.add('ns/a');
    await waitFor(() => reconciled.includes('ns/a'));
    await queue.addAfter('ns/b', 1000);
    await queue.addRateLimited('ns/c', new Error('refused'));
    await queue.park('ns/d', new Error('refused'));
    await elector.lose(new LeaseLostError('taken'));
    await harness.clock.advance(2000);
    expect(await queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, parked: 0 });
    expect(await queue.numRequeues('ns/c')).toBe(0);
    await harness.end();
  });

  it('gives up the lease after its last key, where only the leader reconciles', async () => {
    const log: string[] = [];
    let finish = (): void => undefined;
    const { elector, end, manager, queue, reconciled } = setUp('leader', async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      log.push('finished');
      return {};
    });
    elector.log = log;
    await waitFor(() => manager.state === 'running');
    void elector.win(1);
    await queue.add('ns/a');
    await waitFor(() => reconciled.length > 0);
    const ended = end();
    expect(manager.state).toBe('stopping');
    finish();
    await ended;
    expect(log).toEqual(['finished', 'released']);
  });

  it('ends what runs at once when it has lost the lease, and hands the key over', async () => {
    let reason: unknown;
    const { elector, end, manager, queue, reconciled } = setUp('leader', async (_, { signal }) => {
      await untilAborted(signal).catch((error: unknown) => {
        reason = error;
        throw error;
      });
      return {};
    });
    await waitFor(() => manager.state === 'running');
    void elector.win(1);
    await queue.add('ns/a');
    await waitFor(() => reconciled.length > 0);
    await elector.lose(new LeaseLostError('taken'));
    expect(reason).toMatchObject({ code: 'LEASE_LOST' });
    // The key is delayed: on this replica it would only fail again.
    expect(await queue.counts()).toMatchObject({ waiting: 0, delayed: 1 });
    await end();
  });

  it('takes over before its first key, and hands over after its last, before it gives up the lease', async () => {
    const log: string[] = [];
    let finish = (): void => undefined;
    let letIn = (): void => undefined;
    const handover = {
      name: 'test',
      beginTerm: ({ epoch }: { epoch: number }) =>
        new Promise<void>((resolve) => {
          log.push(`begins ${epoch}`);
          letIn = resolve;
        }),
      handOver: async () => void log.push('handed over'),
    };
    const reconcile = async () => {
      log.push('key');
      await new Promise<void>((resolve) => (finish = resolve));
      return {};
    };
    const harness = new ManagerHarness([{ reconcile }], { reconcileOn: 'leader', handover });
    harness.elector.log = log;
    await waitFor(() => harness.manager.state === 'running');
    void harness.elector.win(1);
    await harness.controllers[0]?.queue.add('ns/a');
    await waitFor(() => log.length > 0);
    expect(log).toEqual(['begins 1']);
    letIn();
    await waitFor(() => log.includes('key'));
    const ended = harness.end();
    finish();
    await ended;
    expect(log).toEqual(['begins 1', 'key', 'handed over', 'released']);
  });

  it('tries again to take over, and hands nothing over when it has lost the lease', async () => {
    const log: string[] = [];
    const handover = {
      name: 'test',
      beginTerm: async () => {
        log.push('begins');
        if (log.length === 1) throw new Error('the API is gone');
      },
      handOver: async () => void log.push('handed over'),
    };
    const harness = new ManagerHarness([{}], { reconcileOn: 'leader', handover });
    const [{ controller }] = harness.controllers as [(typeof harness.controllers)[0]];
    await waitFor(() => harness.manager.state === 'running');
    void harness.elector.win(1);
    await waitFor(() => log.length === 1);
    await harness.clock.advance(20);
    await waitFor(() => controller.isConsuming);
    await harness.elector.lose(new LeaseLostError('taken'));
    expect(log).toEqual(['begins', 'begins']);
    await harness.end();
  });

  describe('as the leader', () => {
    const change = { ref: { namespace: 'ns', name: 'a' }, reason: 'user-change' } as const;

    it('watches only once no former leader can add anything any more', async () => {
      const { elector, end, manager, queue, watched } = setUp('leader');
      await waitFor(() => manager.state === 'running');
      const former = await queue.beginTerm({ epoch: 1, holder: 'former' });
      const begin = queue.beginTerm.bind(queue);
      let letIn = (): void => undefined;
      const asked = new Promise<void>((resolve) => (letIn = resolve));
      queue.beginTerm = async (term) => {
        await asked;
        return begin(term);
      };
      void elector.win(2);
      await former.add('ns/former');
      expect(watched).toHaveLength(0);
      letIn();
      await waitFor(() => watched.length > 0);
      await expect(former.add('ns/former')).rejects.toMatchObject({ code: 'SUPERSEDED', epoch: 2 });
      await end();
    });

    it('begins its term again and again where a queue cannot be reached, and goes on with the others', async () => {
      const { clock, elector, end, manager, queue, watched } = setUp('leader');
      await waitFor(() => manager.state === 'running');
      const begin = queue.beginTerm.bind(queue);
      let failures = 0;
      queue.beginTerm = async (term) => {
        if (failures++ < 3) throw new Error('no Redis');
        return begin(term);
      };
      void elector.win(1);
      await waitFor(async () => {
        await clock.advance(10);
        return watched.length > 0;
      });
      expect(failures).toBe(4);
      await end();
    });

    it('ends its term when that may not begin, since a newer one has', async () => {
      const { elector, end, manager, queue, watched } = setUp('leader');
      await waitFor(() => manager.state === 'running');
      await queue.beginTerm({ epoch: 7, holder: 'other' });
      await expect(elector.win(2)).rejects.toMatchObject({ code: 'SUPERSEDED', epoch: 7 });
      expect(watched).toHaveLength(0);
      await end();
    });

    it('ends its term when an add is refused, since a newer one has begun, and adds nothing more', async () => {
      const { elector, end, manager, queue, watched } = setUp('leader');
      await waitFor(() => manager.state === 'running');
      const ended = elector.win(1);
      await waitFor(() => watched.length > 0);
      const [enqueue] = watched;
      await queue.beginTerm({ epoch: 2, holder: 'other' });
      enqueue?.(change);
      await expect(ended).rejects.toMatchObject({ code: 'SUPERSEDED', epoch: 2 });
      expect(watched).toHaveLength(0);
      expect((await queue.counts()).waiting).toBe(0);
      await end();
    });
  });

  it('ends its term when a queue has lost it, although there is nothing to add', async () => {
    const { clock, elector, end, manager, queue, watched } = setUp('leader');
    await waitFor(() => manager.state === 'running');
    const begin = queue.beginTerm.bind(queue);
    let checks = 0;
    const answers = [undefined, new Error('no Redis'), new SupersededError('lost', { epoch: 0 })];
    queue.beginTerm = async (term) => ({
      ...(await begin(term)),
      check: async () => {
        const answer = answers[checks++];
        if (answer) throw answer;
      },
    });
    const outcome = elector.win(1).catch((error: unknown) => error);
    await waitFor(() => watched.length > 0);
    await waitFor(async () => {
      await clock.advance(500);
      return checks === answers.length;
    });
    expect(await outcome).toMatchObject({ code: 'SUPERSEDED', epoch: 0 });
    expect(watched).toHaveLength(0);
    await end();
  });

  it('ends what runs at once when its term is refused, instead of waiting for it before the next one', async () => {
    const reasons: unknown[] = [];
    const reconcile = async (_: unknown, { signal }: { signal: AbortSignal }) => {
      await untilAborted(signal).catch((error: unknown) => {
        reasons.push(error);
        throw error;
      });
      return {};
    };
    const harness = new ManagerHarness([
      { name: 'refused', worksOn: 'leader', reconcile },
      { name: 'beside it', worksOn: 'leader', reconcile },
    ]);
    const { clock, controllers, elector, manager } = harness;
    await waitFor(() => manager.state === 'running');
    const outcome = elector.win(1).catch((error: unknown) => error);
    for (const { queue } of controllers) await queue.add('ns/a');
    await waitFor(() => controllers.every(({ reconciled }) => reconciled.length === 1));
    await controllers[0]?.queue.beginTerm({ epoch: 2, holder: 'other' });
    await clock.advance(2000);
    expect(await outcome).toMatchObject({ code: 'SUPERSEDED', epoch: 2 });
    expect(reasons).toMatchObject([{ code: 'LEASE_LOST' }, { code: 'LEASE_LOST' }]);
    await harness.end();
  });

  it('gives up a queue that does not answer as soon as the lease is lost', async () => {
    const { elector, end, manager, queue } = setUp('leader');
    await waitFor(() => manager.state === 'running');
    let asked = 0;
    queue.beginTerm = () => {
      asked += 1;
      return new Promise(() => undefined);
    };
    const ended = elector.win(1);
    await waitFor(() => asked > 0);
    await elector.lose(new LeaseLostError('taken'));
    await expect(ended).resolves.toBeUndefined();
    await end();
  });

  it('is not ready any more before anything of it has heard of the stop', async () => {
    const { manager, running, stop } = setUp('all');
    await waitFor(() => manager.state === 'running');
    stop.abort(new ShutdownError('stop'));
    expect(manager.state).toBe('stopping');
    await running;
    expect(manager.state).toBe('stopped');
  });
});
