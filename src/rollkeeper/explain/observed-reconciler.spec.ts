import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import type { Decision, ReconcileContext, Reconciler, SyncStep } from '../../runtime/controller/index.js';
import { carryThrough } from '../../runtime/controller/index.js';
import { ShutdownError, SyncTimeoutError } from '../../machinery/errors/index.js';
import { DecisionLog } from './decision-log.js';
import { ObservedReconciler } from './observed-reconciler.js';
import { RunningSyncs } from './running-syncs.js';

const decision = (summary: string, changes: boolean) => ({
  branch: 'rolling-update',
  summary,
  changes,
  inputs: {},
});

/** A sync with these decisions in order, which ends with `end`. */
const deciding = ([first, ...others]: readonly Decision[], end: () => Promise<SyncStep>): SyncStep => ({
  decide: () => {
    if (!first) throw new Error('nothing to decide');
    const apply = others.length > 0 ? async () => deciding(others, end) : end;
    return { decision: first, apply };
  },
});

describe('the observed reconciler', () => {
  const observe = (reconcile: Reconciler['reconcile']) => {
    const clock = new FakeClock(5000);
    const log = new DecisionLog();
    const running = new RunningSyncs(clock);
    const options = { controller: 'deployment', replica: 'r0', log, running, clock };
    const reconciler = new ObservedReconciler({ reconcile }, options);
    const controller = new AbortController();
    const context = { signal: controller.signal } as ReconcileContext;
    const run = () =>
      carryThrough(reconciler.reconcile({ key: 'default/web', namespace: 'default', name: 'web' }, context));
    return { abort: (reason: Error) => controller.abort(reason), log, run, running };
  };

  it('notes which object it was about, as the caches have it when it decides', async () => {
    const clock = new FakeClock(5000);
    const log = new DecisionLog();
    let uid: string | undefined = 'first';
    const reconcile = async (): Promise<SyncStep> => {
      uid = 'second';
      return deciding([decision('web: 1 -> 2', true)], async () => ({}));
    };
    const options = { controller: 'deployment', replica: 'r0', log, running: new RunningSyncs(clock), clock };
    const reconciler = new ObservedReconciler({ reconcile }, { ...options, uidOf: () => uid });
    const context = { signal: new AbortController().signal } as ReconcileContext;
    await carryThrough(
      reconciler.reconcile({ key: 'default/web', namespace: 'default', name: 'web' }, context),
    );
    expect(log.of('deployment', 'default/web', 'second')).toMatchObject([{ uid: 'second' }]);
    expect(log.of('deployment', 'default/web', 'first')).toEqual([]);
  });

  it('notes decisions that change something, and no others, nor those that are made by the thousand', async () => {
    const { log, run } = observe(async () =>
      deciding(
        [
          decision('web-new: 1 -> 2', true),
          decision('', false),
          { ...decision('one of many', true), routine: true },
        ],
        async () => ({ requeueAfterMs: 7 }),
      ),
    );
    expect(await run()).toEqual({ requeueAfterMs: 7 });
    expect(log.of('deployment', 'default/web')).toEqual([
      {
        atMs: 5000,
        controller: 'deployment',
        key: 'default/web',
        replica: 'r0',
        actions: ['rolling-update: web-new: 1 -> 2'],
      },
    ]);
  });

  it('shows a key while it is worked on, and no longer', async () => {
    const { run, running } = observe(async () => {
      expect(running.list()).toEqual([{ controller: 'deployment', key: 'default/web', sinceMs: 5000 }]);
      return {};
    });
    await run();
    expect(running.list()).toEqual([]);
  });

  it('notes a sync that takes too long when it is told to end, once, and shows it until it has ended', async () => {
    const end = Promise.withResolvers<void>();
    const { abort, log, run, running } = observe(async () => {
      await end.promise;
      throw new Error('interrupted');
    });
    const ended = run();
    abort(new SyncTimeoutError('took too long'));
    expect(log.of('deployment', 'default/web')).toMatchObject([{ error: 'took too long' }]);
    expect(running.list()).toEqual([
      { controller: 'deployment', key: 'default/web', sinceMs: 5000, overdueSinceMs: 5000 },
    ]);
    end.resolve();
    await expect(ended).rejects.toThrow('interrupted');
    expect(log.of('deployment', 'default/web')).toHaveLength(1);
    expect(running.list()).toEqual([]);
  });

  it('notes a failure and passes it on', async () => {
    const { log, run } = observe(() => Promise.reject(new Error('no')));
    await expect(run()).rejects.toThrow('no');
    expect(log.of('deployment', 'default/web')).toMatchObject([{ error: 'no', actions: [] }]);
  });

  it('notes what was decided before a write failed', async () => {
    const { log, run, running } = observe(async () =>
      deciding([decision('web-new: 1 -> 2', true)], () => Promise.reject(new Error('refused'))),
    );
    await expect(run()).rejects.toThrow('refused');
    expect(log.of('deployment', 'default/web')).toMatchObject([
      { error: 'refused', actions: ['rolling-update: web-new: 1 -> 2'] },
    ]);
    expect(running.list()).toEqual([]);
  });

  it('notes what was decided by a sync that hangs, when it is told to end', async () => {
    const begins = Promise.withResolvers<void>();
    const hangs = Promise.withResolvers<SyncStep>();
    const { abort, log, run } = observe(async () =>
      deciding([decision('web-new: 1 -> 2', true)], () => {
        begins.resolve();
        return hangs.promise;
      }),
    );
    const ended = run();
    await begins.promise;
    abort(new SyncTimeoutError('took too long'));
    expect(log.of('deployment', 'default/web')).toMatchObject([
      { error: 'took too long', actions: ['rolling-update: web-new: 1 -> 2'] },
    ]);
    hangs.resolve({});
    await ended;
  });

  it('notes that deciding failed, and shows the key no longer', async () => {
    const { log, run, running } = observe(async () => deciding([], async () => ({})));
    await expect(run()).rejects.toThrow('nothing to decide');
    expect(log.of('deployment', 'default/web')).toMatchObject([{ error: 'nothing to decide', actions: [] }]);
    expect(running.list()).toEqual([]);
  });

  it('notes nothing where the work was only called off', async () => {
    const { log, run, running } = observe(() => Promise.reject(new ShutdownError('stopping')));
    await expect(run()).rejects.toThrow('stopping');
    expect(log.of('deployment', 'default/web')).toEqual([]);
    expect(running.list()).toEqual([]);
  });
});
