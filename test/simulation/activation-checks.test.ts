import { expect, it } from 'vitest';
import type { Informer, VersionScope } from '../../src/client/informer/index.js';
import type { Activation, ActorRuntime } from '../../src/runtime/activation/index.js';
import { followedBy } from '../../src/runtime/controller/sync-observer.js';
import type { SimulatedProcess } from '../../src/testing/simulation/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import type { Violation } from '../chaos/checkers/violation.js';
import { ActivationChecks } from './activation-checks.js';

const KEY = 'default/web';

/** Replicas whose caches show nothing of a write, and an actor runtime without locks. */
function staleReplicas({ storeNowMs = 0, tokens = [] as readonly number[] } = {}) {
  const violations: Violation[] = [];
  const pods = { type: Pod, hasSeen: (_: string, scope?: VersionScope) => scope?.namespace === 'seen' };
  const checks = new ActivationChecks(
    (violation) => void violations.push(violation),
    () => [pods as unknown as Informer],
    () => storeNowMs,
  );
  let token = 0;
  const runtime: Pick<ActorRuntime, 'activate'> = {
    activate: (controller, key, _signal, work) => {
      token += 1;
      const activation = {
        controller,
        key,
        token: tokens[token - 1] ?? token,
        assertHeld: () => undefined,
        recordOwnWrite: () => undefined,
      };
      return work(activation as unknown as Activation);
    },
  };
  const processOf = (name: string, key = KEY) => {
    const process = { name, isAlive: true, kernel: { nowMs: 0 } } as unknown as SimulatedProcess;
    const watched = checks.watch(process, runtime as ActorRuntime);
    const run = (work: (activation: Activation) => Promise<void>) =>
      watched.activate('replicaset', key, new AbortController().signal, work);
    const sync = { controller: 'replicaset', key, object: () => undefined };
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

it('a key of the garbage collector is judged by the cache of the namespace in it', async () => {
  const { processOf, violations } = staleReplicas();
  for (const key of ['pods|seen/web', 'pods|unseen/web']) {
    const replica = processOf('replica', key);
    await replica.run(write);
    await replica.run(async () => replica.decide());
  }
  expect(violations.map(({ subject }) => subject)).toEqual(['replicaset pods|unseen/web']);
});

const [LATER, EARLIER] = [9_000_000, 5_000_000];

it('a token may be smaller once the clock of Redis is behind the one before, which has ended', async () => {
  const { processOf, violations } = staleReplicas({ tokens: [LATER, EARLIER], storeNowMs: EARLIER / 1000 });
  for (const name of ['first', 'next'])
    await processOf(name).run(async (activation) => activation.assertHeld());
  expect(violations).toEqual([]);
});

it.each([
  ['the clock of Redis has not gone back', LATER / 1000, true],
  ['the one before has not ended', EARLIER / 1000, false],
])('a smaller token is a violation if %s', async (_, storeNowMs, hasEnded) => {
  const { processOf, violations } = staleReplicas({ tokens: [LATER, EARLIER], storeNowMs });
  const next = () => processOf('next').run(async () => undefined);
  await processOf('first').run(hasEnded ? async () => undefined : next);
  if (hasEnded) await next();
  expect(violations.map(({ problem }) => problem)).toEqual([`token ${EARLIER} began after token ${LATER}`]);
});

it('one that has begun before a smaller token must not write any more', async () => {
  const { processOf, violations } = staleReplicas({ tokens: [LATER, EARLIER], storeNowMs: EARLIER / 1000 });
  let late: Activation | undefined;
  await processOf('first').run(async (activation) => void (late = activation));
  await processOf('next').run(async () => late?.assertHeld());
  expect(violations.map(({ problem }) => problem)).toEqual([
    `token ${LATER} writes after next has token ${EARLIER}`,
  ]);
});
