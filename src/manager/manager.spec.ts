import { describe, expect, it } from 'vitest';
import type { Reconciler } from '../controller/index.js';
import { LeaseLostError, ShutdownError } from '../errors/index.js';
import { ManagerHarness } from '../testing/manager-harness.js';
import { waitFor } from '../testing/wait-for.js';

function setUp(reconcileOn: 'all' | 'leader', reconcile?: Reconciler['reconcile']) {
  const harness = new ManagerHarness([{ reconcile }], { reconcileOn });
  const [{ controller, queue, reconciled }] = harness.controllers as [(typeof harness.controllers)[0]];
  const { elector, manager, running, stop } = harness;
  return { controller, elector, end: () => harness.end(), manager, queue, reconciled, running, stop };
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
    expect((await queue.counts()).waiting).toBe(1);
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
