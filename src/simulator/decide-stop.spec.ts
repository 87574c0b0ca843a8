import { describe, expect, it } from 'vitest';
import type { Container } from '../machinery/generated/types/core-v1.js';
import type { Pod } from '../machinery/kubernetes/index.js';
import { decideStopEvents, decideStops, PRE_STOP_ANNOTATION, STOPS_AFTER_ANNOTATION } from './decide-stop.js';
import { START, startingPod, decide, play } from './pod-lifecycle.fixture.js';

const HOOK = { preStop: { exec: { command: ['sleep', '99'] } } };
const aContainer = (more: Partial<Container> = {}): Container => ({ name: 'main', image: 'nginx', ...more });
const stops = (pod: Pod, graceS = 30, terminationDelayMs = 0) =>
  decideStops(pod, { graceMs: graceS * 1000, terminationDelayMs }).map(({ afterMs, exitCode, name }) => [
    name,
    afterMs / 1000,
    exitCode,
  ]);

describe('a container that is asked to stop', () => {
  it('stops at once by default, whatever its preStop is', () => {
    expect(stops(startingPod({}, { containers: [aContainer({ lifecycle: HOOK })] }))).toEqual([
      ['main', 0, 0],
    ]);
  });

  it.each<[Record<string, string>, number, readonly unknown[]]>([
    [{ [STOPS_AFTER_ANNOTATION]: '5s' }, 30, ['main', 5, 0]],
    [{ [STOPS_AFTER_ANNOTATION]: '40s' }, 30, ['main', 30, 137]],
    [{ [STOPS_AFTER_ANNOTATION]: 'never' }, 30, ['main', 30, 137]],
    [{ [PRE_STOP_ANNOTATION]: '10s' }, 30, ['main', 10, 0]],
    [{ [PRE_STOP_ANNOTATION]: '10s', [STOPS_AFTER_ANNOTATION]: '5s' }, 30, ['main', 15, 0]],
    [{ [PRE_STOP_ANNOTATION]: '29s', [STOPS_AFTER_ANNOTATION]: '5s' }, 30, ['main', 31, 137]],
    [{ [PRE_STOP_ANNOTATION]: '1m', [STOPS_AFTER_ANNOTATION]: '1s' }, 30, ['main', 31, 0]],
    [{ [PRE_STOP_ANNOTATION]: 'fails' }, 30, ['main', 0, 0]],
  ])('with %j and a grace period of %i s it does so as %j', (annotations, graceS, expected) => {
    const pod = startingPod({ annotations }, { containers: [aContainer({ lifecycle: HOOK })] });
    expect(stops(pod, graceS)).toEqual([expected]);
  });

  it('has not completed where it should have', () => {
    expect(stops(startingPod({}, { restartPolicy: 'Never' }), 30, 2_000)).toEqual([['main', 2, 143]]);
  });

  it('stops after those that were started after it, if it is a sidecar, the last first', () => {
    const annotations = { [`${STOPS_AFTER_ANNOTATION}.main`]: '3s', [`${STOPS_AFTER_ANNOTATION}.log`]: '2s' };
    const initContainers = ['log', 'proxy'].map((name) => ({
      ...aContainer({ name }),
      restartPolicy: 'Always',
    }));
    const ends = stops(
      startingPod({ annotations }, { initContainers: [...initContainers, aContainer({ name: 'once' })] }),
    );
    expect(ends).toEqual([
      ['main', 3, 0],
      ['proxy', 3, 0],
      ['log', 5, 0],
    ]);
  });

  it('says that it is stopped, and that its hook has failed', () => {
    const containers = [aContainer({ lifecycle: HOOK })];
    const { pod } = play(startingPod({ annotations: { [PRE_STOP_ANNOTATION]: 'fails' } }, { containers }), 0);
    expect(decideStopEvents(pod).map(({ message, reason, type }) => [type, reason, message])).toEqual([
      ['Normal', 'Killing', 'Stopping container main'],
      ['Warning', 'FailedPreStopHook', 'PreStopHook failed'],
    ]);
  });
});

describe('a pod that is deleted and takes its time', () => {
  const leaving = (pod: Pod): Pod => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      deletionTimestamp: new Date(START + 30_000).toISOString(),
      deletionGracePeriodSeconds: 30,
    },
  });

  it('shows which of its containers have stopped, is not ready then, and goes with the last', () => {
    const annotations = { [`${STOPS_AFTER_ANNOTATION}.a`]: '2s', [`${STOPS_AFTER_ANNOTATION}.b`]: '10s' };
    const containers = ['a', 'b'].map((name) => aContainer({ name }));
    const { pod } = play(startingPod({ annotations }, { containers }), 0);
    const facts = { terminatingSinceMs: START };
    expect(decide(leaving(pod), 0, facts)).toEqual({ action: 'rest', wakeAtMs: START + 2_000 });
    const plan = decide(leaving(pod), 2_000, facts);
    expect(plan).toMatchObject({ action: 'write-status', wakeAtMs: START + 10_000 });
    if (plan.action !== 'write-status') return;
    expect(plan.status.containerStatuses?.map(({ state }) => state?.terminated?.exitCode)).toEqual([
      0,
      undefined,
    ]);
    expect(plan.status.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False');
    expect(decide(leaving({ ...pod, status: plan.status }), 2_000, facts).action).toBe('rest');
    expect(decide(leaving({ ...pod, status: plan.status }), 10_000, facts).action).toBe('delete');
  });
});
