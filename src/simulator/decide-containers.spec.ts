import { describe, expect, it } from 'vitest';
import type { Pod, PodSpec } from '../machinery/kubernetes/index.js';
import type { Container } from '../machinery/generated/types/core-v1.js';
import { summarizePod } from '../apiserver/kinds/core/pod/pod-status-word.js';
import { ENDS_AFTER_ANNOTATION, EXIT_CODE_ANNOTATION } from './pod-behaviour.js';
import { startingPod, condition, decide, play, stateWord, waitingReason } from './pod-lifecycle.fixture.js';

describe('a pod with init containers', () => {
  const initOf = (pod: Pod, name = 'init') =>
    pod.status?.initContainerStatuses?.find((one) => one.name === name);
  const withInit = (
    init: Partial<Container>,
    spec: Partial<PodSpec> = {},
    annotations: Record<string, string> = {},
  ) =>
    startingPod({ annotations }, { initContainers: [{ name: 'init', image: 'busybox', ...init }], ...spec });

  it('is running and ready by one write where they succeed', () => {
    const { pod, written } = play(withInit({}), 3_600_000);
    expect(written).toHaveLength(1);
    expect(initOf(pod)).toMatchObject({ ready: true, state: { terminated: { reason: 'Completed' } } });
    expect(condition(pod.status, 'Ready')?.status).toBe('True');
  });

  it('waits for the first one that fails, which is started again after a backoff', () => {
    const pod = withInit({ command: ['sh', '-c', 'exit 2'] });
    const { pod: now, written } = play(pod, 15_000);
    expect(initOf(now)).toMatchObject({
      restartCount: 2,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
    });
    expect(initOf(now)?.lastState?.terminated?.exitCode).toBe(2);
    expect(now.status?.phase).toBe('Pending');
    expect(waitingReason(now.status!)).toBe('PodInitializing');
    expect(condition(now.status, 'Initialized')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [init]',
    });
    expect(written.length).toBeGreaterThanOrEqual(2);
    expect(summarizePod(now)).toMatchObject({ word: 'Init:CrashLoopBackOff', restarts: 2 });
  });

  it('has failed with the first one that fails, where nothing is restarted', () => {
    const never = { restartPolicy: 'Never' } as const;
    const { pod } = play(withInit({}, never, { [`${EXIT_CODE_ANNOTATION}.init`]: '5' }), 60_000);
    expect(pod.status?.phase).toBe('Failed');
    expect(initOf(pod)?.state?.terminated).toMatchObject({ exitCode: 5, reason: 'Error' });
    expect(condition(pod.status, 'Initialized')?.status).toBe('False');
    expect(summarizePod(pod).word).toBe('Init:Error');
    expect(decide(pod, 60_000)).toEqual({ action: 'rest' });
  });

  it('is not concerned by what annotations say of all its other containers', () => {
    const pod = withInit({}, { restartPolicy: 'Never' }, { [EXIT_CODE_ANNOTATION]: '5' });
    const { pod: after } = play(pod, 60_000);
    expect(initOf(after)?.state?.terminated?.exitCode).toBe(0);
    expect(after.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(5);
  });

  it('waits for an image that does not exist, in its order', () => {
    const initContainers = ['busybox', 'busybox:missing', 'busybox'].map((image, index) => ({
      name: `init-${index}`,
      image,
    }));
    const { pod } = play(startingPod({}, { initContainers }), 5_000);
    expect(summarizePod(pod).word).toBe('Init:ImagePullBackOff');
    expect(initOf(pod, 'init-0')?.state?.terminated?.exitCode).toBe(0);
    expect(initOf(pod, 'init-2')?.state?.waiting?.reason).toBe('PodInitializing');
    expect(condition(pod.status, 'Initialized')?.message).toBe(
      'containers with incomplete status: [init-1 init-2]',
    );
  });

  it('takes as long as they are asked to take', () => {
    const { written } = play(withInit({}, {}, { [`${ENDS_AFTER_ANNOTATION}.init`]: '5s' }), 60_000);
    expect(written.map(({ atMs, status }) => [atMs, status.phase])).toEqual([
      [0, 'Pending'],
      [5_000, 'Running'],
    ]);
    expect(summarizePod({ ...startingPod(), ...withInit({}), status: written[0]!.status }).word).toBe(
      'Init:0/1',
    );
  });

  it('has sidecars that run beside its containers and stop when these have ended', () => {
    const sidecar = { restartPolicy: 'Always' } as const;
    const serving = play(withInit(sidecar), 60_000).pod;
    expect(initOf(serving)).toMatchObject({ ready: true, started: true, state: { running: {} } });
    expect(summarizePod(serving)).toMatchObject({ word: 'Running', readyContainers: 2, totalContainers: 2 });
    const ended = play(withInit(sidecar, { restartPolicy: 'Never' }), 60_000).pod;
    expect(ended.status?.phase).toBe('Succeeded');
    expect(initOf(ended)?.state?.terminated).toMatchObject({ reason: 'Completed' });
  });

  it('goes on while a sidecar is restarted, and is not ready', () => {
    const annotations = { [ENDS_AFTER_ANNOTATION]: 'never', [`${ENDS_AFTER_ANNOTATION}.init`]: '5s' };
    const { pod } = play(withInit({ restartPolicy: 'Always' }, {}, annotations), 12_000);
    expect(initOf(pod)?.state?.waiting?.reason).toBe('CrashLoopBackOff');
    expect(pod.status?.phase).toBe('Running');
    expect(condition(pod.status, 'Initialized')?.status).toBe('True');
    expect(condition(pod.status, 'Ready')?.status).toBe('False');
  });

  it('is not ready while a sidecar is not', () => {
    const { pod } = play(withInit({ restartPolicy: 'Always', image: 'proxy:never-ready' }), 60_000);
    expect(condition(pod.status, 'Initialized')?.status).toBe('True');
    expect(condition(pod.status, 'ContainersReady')?.message).toBe('containers with unready status: [init]');
    expect(summarizePod(pod)).toMatchObject({ word: 'Running', readyContainers: 1 });
  });
});

describe('a pod whose probes fail', () => {
  const probed = (fields: Partial<Container>, spec: Partial<PodSpec> = {}) =>
    startingPod({}, { containers: [{ name: 'main', image: 'nginx', ...fields }], ...spec });
  const FAILS = { exec: { command: ['false'] } };

  it('runs and is not ready by its readiness probe, until it succeeds', () => {
    const { pod } = play(probed({ readinessProbe: FAILS }), 60_000);
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({ ready: false, started: true });
    expect(condition(pod.status, 'Ready')?.status).toBe('False');
    pod.metadata.annotations = { 'node.rollkeeper.dev/exec': '"*": ""' };
    expect(condition(play(pod, 61_000).pod.status, 'Ready')?.status).toBe('True');
  });

  it('is killed and started again by its liveness probe, and ready in between', () => {
    const { written } = play(probed({ livenessProbe: { ...FAILS, periodSeconds: 5 } }), 32_000);
    const story = written.map(({ atMs, status }) => {
      const one = status.containerStatuses?.[0];
      return [atMs / 1000, stateWord(status), one?.ready, one?.restartCount];
    });
    expect(story).toEqual([
      [0, 'running', true, 0],
      [10, 'Error', false, 0],
      [11, 'running', true, 1],
      [21, 'CrashLoopBackOff', false, 1],
      [31, 'running', true, 2],
    ]);
  });

  it('fails by its liveness probe where nothing is restarted and nothing ends by itself', () => {
    const pod = probed({ livenessProbe: FAILS }, { restartPolicy: 'Never' });
    pod.metadata.annotations = { [ENDS_AFTER_ANNOTATION]: 'never' };
    const { pod: after } = play(pod, 60_000);
    expect(after.status?.phase).toBe('Failed');
    expect(after.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(137);
  });

  it('has not started before its startup probe succeeds', () => {
    const { pod } = play(probed({ startupProbe: { httpGet: { port: 'nowhere' } } }), 3_600_000);
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({
      ready: false,
      started: false,
      restartCount: 0,
      state: { running: {} },
    });
  });
});

describe('a pod whose command fails', () => {
  it('crashes with its code, and ends where it is not restarted', () => {
    const containers = [{ name: 'main', image: 'busybox', args: ['sh', '-c', 'sleep 3; exit 4'] }];
    const crashing = play(startingPod({}, { containers }), 8_000).pod;
    expect(crashing.status?.containerStatuses?.[0]).toMatchObject({
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 4 } },
    });
    const { pod, written } = play(startingPod({}, { containers, restartPolicy: 'Never' }), 60_000);
    expect(written.at(-1)?.atMs).toBe(3_000);
    expect(pod.status?.phase).toBe('Failed');
    expect(summarizePod(pod).word).toBe('Error');
  });
});
