import { expect, it } from 'vitest';
import type { Informer } from '../../src/client/informer/index.js';
import type { Activation, ActorRuntime } from '../../src/runtime/activation/index.js';
import { followedBy } from '../../src/runtime/controller/sync-observer.js';
import type { SimulatedProcess } from '../../src/testing/simulation/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import type { Violation } from '../chaos/checkers/violation.js';
import { ActivationChecks } from './activation-checks.js';

const KEY = 'default/web';

/** Replicas whose caches show nothing of a write, and an actor runtime without locks. */
function staleReplicas() {
  const violations: Violation[] = [];
  const pods = { type: Pod, hasSeen: () => false };
  const checks = new ActivationChecks(
    (violation) => void violations.push(violation),
    () => [pods as unknown as Informer],
  );
  let token = 0;
  const runtime: Pick<ActorRuntime, 'activate'> = {
    activate: (controller, key, _signal, work) => {
      token += 1;
      const activation = {
        controller,
        key,
        token,
        assertHeld: () => undefined,
        recordOwnWrite: () => undefined,
      };
      return work(activation as unknown as Activation);
    },
  };
  const processOf = (name: string) => {
    const process = { name, kernel: { nowMs: 0 } } as unknown as SimulatedProcess;
    const watched = checks.watch(process, runtime as ActorRuntime);
    const run = (work: (activation: Activation) => Promise<void>) =>
      watched.activate('replicaset', KEY, new AbortController().signal, work);
    const sync = { controller: 'replicaset', key: KEY, object: () => undefined };
    const decide = (): void =>
      followedBy([checks.observer(process)], sync).decided({ branch: 'idle', summary: '', changes: false });
    return { decide, run };
  };
  return { processOf, violations };
}

const write = async (activation: Activation): Promise<void> => activation.recordOwnWrite('pods', '558');

it('a decision before the cache shows what an earlier activation wrote is a violation', async () => {
  const { processOf, violations } = staleReplicas();
  const next = processOf('next');
  await processOf('first').run(write);
  await next.run(async () => next.decide());
  expect(violations.map(({ problem }) => problem)).toEqual(['next decides before it has seen pods at 558']);
});

it('a process that was overtaken while it was paused may decide, but not write', async () => {
  const { processOf, violations } = staleReplicas();
  const paused = processOf('paused');
  const other = processOf('other');
  await paused.run(async (activation) => {
    await other.run(write);
    paused.decide();
    expect(violations).toEqual([]);
    activation.assertHeld();
  });
  expect(violations.map(({ problem }) => problem)).toEqual(['token 1 writes after other has token 2']);
});
