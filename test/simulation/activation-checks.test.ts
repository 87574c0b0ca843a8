import { expect, it } from 'vitest';
import type { Activation, ActorRuntime } from '../../src/runtime/activation/index.js';
import { followedBy } from '../../src/runtime/controller/sync-observer.js';
import type { Replica, SimulatedProcess } from '../../src/testing/simulation/index.js';
import type { Violation } from '../chaos/checkers/violation.js';
import { ActivationChecks } from './activation-checks.js';

const KEY = 'default/web';

const replicaThat = (hasSeen: boolean): Replica =>
  ({ manager: { informers: { find: () => ({ hasSeen: () => hasSeen }) } } }) as unknown as Replica;

/** Replicas whose caches show nothing of a write, but for that of one with the name `current`, and an actor runtime without locks. */
function staleReplicas() {
  const violations: Violation[] = [];
  const checks = new ActivationChecks(
    (violation) => void violations.push(violation),
    ({ name }) => replicaThat(name === 'current'),
  );
  let token = 0;
  let wait = (): void => undefined;
  const runtime: Pick<ActorRuntime, 'activate'> = {
    activate: (controller, key, _signal, work) => {
      wait();
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
    const atEnd = new Set<() => void>();
    const onKilled = (end: () => void) => {
      atEnd.add(end);
      return () => void atEnd.delete(end);
    };
    const kill = (): void => atEnd.forEach((end) => end());
    const process = {
      name,
      kernel: { nowMs: 0 },
      isAlive: name !== 'dead',
      onKilled,
    } as unknown as SimulatedProcess;
    const watched = checks.watch(process, runtime as ActorRuntime);
    const run = (work: (activation: Activation) => Promise<void>) =>
      watched.activate('replicaset', KEY, new AbortController().signal, work);
    const sync = { controller: 'replicaset', key: KEY, object: () => undefined };
    const decide = (): void =>
      followedBy([checks.observer(process)], sync).decided({ branch: 'idle', summary: '', changes: false });
    return { decide, kill, run };
  };
  const waitWith = (during: () => void): void => {
    wait = during;
  };
  return { checks, processOf, violations, waitWith };
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

it('a process that is killed in the middle of an activation has died in it, and one that is killed after it has not', async () => {
  const { checks, processOf } = staleReplicas();
  const process = processOf('killed');
  await process.run(write);
  process.kill();
  expect(checks.hasDied('replicaset default/web', 0, 1000)).toBe(false);
  await process.run(async () => process.kill());
  expect(checks.hasDied('replicaset default/web', 0, 1000)).toBe(true);
  expect(checks.hasDied('replicaset default/web', 1001, 1000)).toBe(false);
});

it('a process that is killed before its turn has not died in an activation', async () => {
  const { checks, processOf, waitWith } = staleReplicas();
  const process = processOf('killed');
  waitWith(() => process.kill());
  await process.run(write);
  expect(checks.hasDied('replicaset default/web', 0, 1000)).toBe(false);
});

it('only the cache of the process that may write is an excuse', async () => {
  const { checks, processOf } = staleReplicas();
  const isBehind = (): boolean => checks.isBehind('replicaset default/web', 'pods', ['558']);
  expect(isBehind()).toBe(false);
  await processOf('stale').run(write);
  expect(isBehind()).toBe(true);
  await processOf('current').run(write);
  expect(isBehind()).toBe(false);
  await processOf('dead').run(write);
  expect(isBehind()).toBe(false);
});
