import { describe, expect, it } from 'vitest';
import type { Container, Probe } from '../machinery/generated/types/core-v1.js';
import { PROBE_ANNOTATIONS } from './decide-probes.js';
import { ENDS_AFTER_ANNOTATION, EXIT_CODE_ANNOTATION } from './pod-behaviour.js';
import { aPod, condition, play, waitingReason } from './pod-lifecycle.fixture.js';

const HTTP: Probe = { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 5, failureThreshold: 2 };
const probing = (probes: Partial<Container>, annotations: Record<string, string>) =>
  aPod({ annotations }, { containers: [{ name: 'main', image: 'nginx:1.27', ...probes }] });

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
    const { events, written } = play(pod, 26_000);
    expect(written.map(({ atMs, status }) => [atMs / 1000, waitingReason(status)])).toEqual([
      [0, undefined],
      [15, 'CrashLoopBackOff'],
      [25, undefined],
    ]);
    expect(written[1]?.status.containerStatuses?.[0]).toMatchObject({
      lastState: { terminated: { exitCode: 137, reason: 'Error' } },
    });
    expect(events).toEqual([
      'Warning Unhealthy Liveness probe failed: HTTP probe failed with statuscode: 503',
      'Normal Killing Container main failed liveness probe, will be restarted',
      'Warning BackOff Back-off restarting failed container main in pod pod_default(uid)',
    ]);
  });

  it('a startup that is too slow does the same', () => {
    const pod = probing({ startupProbe: HTTP }, { [PROBE_ANNOTATIONS.Startup]: 'succeeds after 1m' });
    const { events, written } = play(pod, 6_000);
    expect(written.map(({ atMs, status }) => [atMs / 1000, waitingReason(status)])).toEqual([
      [0, undefined],
      [5, 'CrashLoopBackOff'],
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
    const { written } = play(aPod({ annotations }), 71_000);
    const seen = written.map(({ atMs, status }) => {
      const { lastState, restartCount } = status.containerStatuses?.[0] ?? {};
      return [atMs / 1000, waitingReason(status), restartCount, lastState?.terminated?.reason];
    });
    expect(seen).toEqual([
      [0, undefined, 0, undefined],
      [30, 'CrashLoopBackOff', 0, 'Completed'],
      [40, undefined, 1, 'Completed'],
      [70, 'CrashLoopBackOff', 1, 'Completed'],
    ]);
  });

  it('wait for 10 s, doubled up to 5 min, in the words of a kubelet', () => {
    const annotations = { [ENDS_AFTER_ANNOTATION]: '1s', [EXIT_CODE_ANNOTATION]: '3' };
    const { written } = play(aPod({ annotations }), 1_500_000);
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

  it('begin with the first backoff again once they have run for ten minutes', () => {
    const annotations = { [ENDS_AFTER_ANNOTATION]: '11m' };
    const { written } = play(aPod({ annotations }), 3_600_000);
    const words = written.flatMap(
      ({ status }) => status.containerStatuses?.[0]?.state?.waiting?.message ?? [],
    );
    expect(words).toHaveLength(5);
    for (const word of words) expect(word).toMatch(/^back-off 10s /);
  });

  it('are sidecars only where it names them', () => {
    const sidecar = { name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' };
    const spec = { initContainers: [sidecar], restartPolicy: 'Never' } as const;
    const restarts = (annotations: Record<string, string>) =>
      play(aPod({ annotations }, { ...spec, initContainers: [{ ...sidecar }] }), 25_000).pod.status
        ?.initContainerStatuses?.[0]?.restartCount;
    expect(restarts({ [ENDS_AFTER_ANNOTATION]: 'never' })).toBe(0);
    expect(restarts({ [ENDS_AFTER_ANNOTATION]: 'never', [`${ENDS_AFTER_ANNOTATION}.proxy`]: '2s' })).toBe(1);
  });
});
