import { describe, expect, it } from 'vitest';
import type { Container, Probe } from '../machinery/generated/types/core-v1.js';
import type { Pod } from '../machinery/kubernetes/index.js';
import { decideProbes } from './decide-probes.js';

const ANSWERS = 'node.rollkeeper.dev/exec';
const FAILS: Probe = { exec: { command: ['false'] } };
const NOWHERE: Probe = { httpGet: { port: 'web', path: '/' } };

function outlook(probes: Partial<Container>, answers?: string) {
  const container: Container = {
    name: 'main',
    image: 'nginx',
    ports: [{ name: 'http', containerPort: 80 }],
    ...probes,
  };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod', ...(answers !== undefined && { annotations: { [ANSWERS]: answers } }) },
    spec: { containers: [container] },
  };
  return decideProbes(pod, container);
}

describe('decideProbes', () => {
  it.each<[string, Probe]>([
    ['a port by its name', { httpGet: { port: 'http' } }],
    ['a port by its number, listed or not', { tcpSocket: { port: 9999 } }],
    ['a number in quotes', { httpGet: { port: '9999' } }],
    ['a command of which nothing is known', { exec: { command: ['cat', '/tmp/healthy'] } }],
    ['gRPC', { grpc: { port: 9999 } }],
  ])('takes %s for one that succeeds', (_name, probe) => {
    const all = outlook({ readinessProbe: probe, livenessProbe: probe, startupProbe: probe });
    expect(all).toEqual({ canBeReady: true, canStart: true, problems: [] });
  });

  it.each([
    ['a command that fails', FAILS, 'Readiness probe failed: '],
    [
      'a port that the container has not',
      NOWHERE,
      "Readiness probe errored and resulted in unknown state: couldn't find port: web",
    ],
  ])('keeps a container from being ready by %s', (_name, readinessProbe, message) => {
    expect(outlook({ readinessProbe })).toMatchObject({
      canBeReady: false,
      canStart: true,
      problems: [{ type: 'Readiness', message }],
    });
    expect(outlook({ readinessProbe })).not.toHaveProperty('killedAfterMs');
  });

  it('has a container killed when its liveness probe has failed often enough', () => {
    const livenessProbe = { ...FAILS, initialDelaySeconds: 5, periodSeconds: 3, failureThreshold: 2 };
    expect(outlook({ livenessProbe })).toMatchObject({ canBeReady: true, killedAfterMs: 8_000 });
    expect(outlook({ livenessProbe: FAILS }).killedAfterMs).toBe(20_000);
  });

  it('makes no other probe before the startup probe has succeeded', () => {
    const failing = outlook({ startupProbe: { ...FAILS, failureThreshold: 1 }, livenessProbe: NOWHERE });
    expect(failing).toMatchObject({ canStart: false, canBeReady: false, killedAfterMs: 1_000 });
    expect(failing.problems.map(({ type }) => type)).toEqual(['Startup']);
  });

  it('throws away the result of a probe that cannot be made, as a kubelet does', () => {
    expect(outlook({ livenessProbe: NOWHERE })).not.toHaveProperty('killedAfterMs');
    expect(outlook({ startupProbe: NOWHERE })).toMatchObject({ canStart: false, canBeReady: false });
    expect(outlook({ startupProbe: NOWHERE })).not.toHaveProperty('killedAfterMs');
  });

  it('goes by what commands answer, where the pod says it', () => {
    const readinessProbe = { exec: { command: ['cat', '/tmp/healthy'] } };
    const answers = 'cat /tmp/healthy: {stderr: "cat: no such file", exitCode: 1}';
    expect(outlook({ readinessProbe }, answers).problems).toEqual([
      { type: 'Readiness', isError: false, message: 'Readiness probe failed: cat: no such file' },
    ]);
    expect(outlook({ readinessProbe }, 'cat /tmp/healthy: "yes"').canBeReady).toBe(true);
    expect(outlook({ readinessProbe: FAILS }, '"*": ""').canBeReady).toBe(true);
    expect(outlook({ readinessProbe }, 'ls: ""').problems).toMatchObject([{ isError: true }]);
    expect(outlook({ readinessProbe }, '[]').canBeReady).toBe(true);
  });
});
