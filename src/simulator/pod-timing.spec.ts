import { describe, expect, it } from 'vitest';
import type { Container, Probe } from '../machinery/generated/types/core-v1.js';
import type { Pod } from '../machinery/kubernetes/index.js';
import { PROBE_ANNOTATIONS } from './decide-probes.js';
import { ENDS_AFTER_ANNOTATION, EXIT_CODE_ANNOTATION } from './pod-behaviour.js';
import { START, startingPod, condition, play, stateWord, waitingReason } from './pod-lifecycle.fixture.js';
import { newPodMemory, noteStatus } from './pod-runner.js';

const HTTP: Probe = { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 5, failureThreshold: 2 };
const probing = (probes: Partial<Container>, annotations: Record<string, string>) =>
  startingPod({ annotations }, { containers: [{ name: 'main', image: 'nginx:1.27', ...probes }] });

describe('probes of which annotations say what they find', () => {
  it('a readiness that comes and goes is that of the pod, with an event when it goes', () => {
    const pod = probing({ readinessProbe: HTTP }, { [PROBE_ANNOTATIONS.Readiness]: 'flaps 20s 10s' });
    const { events, written } = play(pod, 62_000);
    expect(written.map(({ atMs, status }) => [atMs / 1000, condition(status, 'Ready')?.status])).toEqual([
      [0, 'True'],
      [25, 'False'],
      [30, 'True'],
      [55, 'False'],
      [60, 'True'],
    ]);
    expect(events[0]).toBe(
      'Warning Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 503',
    );
    expect(events).toHaveLength(2);
  });

  it('a slow start keeps the other probes waiting', () => {
    const startupProbe = { ...HTTP, failureThreshold: 30 };
    const annotations = {
      [PROBE_ANNOTATIONS.Startup]: 'succeeds after 12s',
      [PROBE_ANNOTATIONS.Readiness]: 'succeeds',
    };
    const { written } = play(probing({ startupProbe, readinessProbe: HTTP }, annotations), 60_000);
    const seen = written.map(({ atMs, status }) => {
      const { ready, started } = status.containerStatuses?.[0] ?? {};
      return [atMs / 1000, started, ready];
    });
    expect(seen).toEqual([
      [0, false, false],
      [15, true, true],
    ]);
  });

  it('a liveness that fails has the container started again, with the events of a kubelet', () => {
    const pod = probing({ livenessProbe: HTTP }, { [PROBE_ANNOTATIONS.Liveness]: 'fails after 8s' });
    const { events, written } = play(pod, 45_000);
    expect(written.map(({ atMs, status }) => [atMs / 1000, stateWord(status)])).toEqual([
      [0, 'running'],
      [15, 'Error'],
      [16, 'running'],
      [31, 'CrashLoopBackOff'],
      [41, 'running'],
    ]);
    expect(written[1]?.status.containerStatuses?.[0]).toMatchObject({
      state: { terminated: { exitCode: 137, reason: 'Error' } },
    });
    const killed = [
      'Warning Unhealthy Liveness probe failed: HTTP probe failed with statuscode: 503',
      'Normal Killing Container main failed liveness probe, will be restarted',
    ];
    expect(events).toEqual([
      ...killed,
      ...killed,
      'Warning BackOff Back-off restarting failed container main in pod pod_default(uid)',
    ]);
  });

  it('a startup that is too slow does the same', () => {
    const pod = probing({ startupProbe: HTTP }, { [PROBE_ANNOTATIONS.Startup]: 'succeeds after 1m' });
    const { events, written } = play(pod, 6_000);
    expect(written.map(({ atMs, status }) => [atMs / 1000, waitingReason(status)])).toEqual([
      [0, undefined],
      [5, undefined],
      [6, undefined],
    ]);
    expect(events.slice(0, 2)).toEqual([
      'Warning Unhealthy Startup probe failed: HTTP probe failed with statuscode: 503',
      'Normal Killing Container main failed startup probe, will be restarted',
    ]);
  });

  it('only what is asked of is regarded, of one container by its name', () => {
    const annotations = { [`${PROBE_ANNOTATIONS.Readiness}.other`]: 'fails' };
    const { pod } = play(probing({ readinessProbe: HTTP }, annotations), 60_000);
    expect(condition(pod.status, 'Ready')?.status).toBe('True');
    const without = play(probing({}, { [PROBE_ANNOTATIONS.Readiness]: 'fails' }), 60_000);
    expect(condition(without.pod.status, 'Ready')?.status).toBe('True');
  });
});

describe('containers that end by an annotation', () => {
  it('are started again where they always are, whatever they exit with', () => {
    const annotations = { [ENDS_AFTER_ANNOTATION]: '30s' };
    const { written } = play(startingPod({ annotations }), 72_000);
    const seen = written.map(({ atMs, status }) => {
      const { lastState, restartCount } = status.containerStatuses?.[0] ?? {};
      return [atMs / 1000, stateWord(status), restartCount, lastState?.terminated?.reason];
    });
    expect(seen).toEqual([
      [0, 'running', 0, undefined],
      [30, 'Completed', 0, undefined],
      [31, 'running', 1, 'Completed'],
      [61, 'CrashLoopBackOff', 1, 'Completed'],
      [71, 'running', 2, 'Completed'],
    ]);
    expect(written[1]?.status.phase).toBe('Running');
  });

  it('wait from their second end on for 10 s, doubled up to 5 min, in the words of a kubelet', () => {
    const annotations = { [ENDS_AFTER_ANNOTATION]: '1s', [EXIT_CODE_ANNOTATION]: '3' };
    const { written } = play(startingPod({ annotations }), 1_500_000);
    const words = written.flatMap(
      ({ status }) => status.containerStatuses?.[0]?.state?.waiting?.message ?? [],
    );
    const about = 'restarting failed container=main pod=pod_default(uid)';
    expect(words.slice(0, 7)).toEqual(
      ['10s', '20s', '40s', '1m20s', '2m40s', '5m0s', '5m0s'].map(
        (backoff) => `back-off ${backoff} ${about}`,
      ),
    );
  });

  it('are started at once again when they have run for ten minutes, and wait 10 s after the next end', () => {
    const memory = { forgottenRestarts: new Map<string, number>() };
    const ending = (endsAfter: string, pod: Pod) => ({
      ...pod,
      metadata: { ...pod.metadata, annotations: { [ENDS_AFTER_ANNOTATION]: endsAfter } },
    });
    const long = play(ending('11m', startingPod()), 3_600_000, memory);
    expect(long.written.map(({ status }) => stateWord(status)).includes('CrashLoopBackOff')).toBe(false);
    expect(long.pod.status?.containerStatuses?.[0]?.restartCount).toBe(5);
    noteStatus({ ...newPodMemory(), ...memory }, undefined, { status: long.pod.status ?? {} }, START);
    const short = play(ending('1s', long.pod), 3_660_000, memory);
    const [first] = short.written.flatMap(
      ({ status }) => status.containerStatuses?.[0]?.state?.waiting?.message ?? [],
    );
    expect(first).toMatch(/^back-off 10s /);
  });

  it('are sidecars only where it names them', () => {
    const sidecar = { name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' };
    const spec = { initContainers: [sidecar], restartPolicy: 'Never' } as const;
    const restarts = (annotations: Record<string, string>) =>
      play(startingPod({ annotations }, { ...spec, initContainers: [{ ...sidecar }] }), 6_000).pod.status
        ?.initContainerStatuses?.[0]?.restartCount;
    expect(restarts({ [ENDS_AFTER_ANNOTATION]: 'never' })).toBe(0);
    expect(restarts({ [ENDS_AFTER_ANNOTATION]: 'never', [`${ENDS_AFTER_ANNOTATION}.proxy`]: '2s' })).toBe(1);
  });
});
