import { describe, expect, it } from 'vitest';
import type { PodSpec, UnstructuredObject } from '../kubernetes/index.js';
import { createKindRegistry } from '../../apiserver/kinds/kind-registry.js';
import { defaultPodOnly, defaultPodSpec } from './index.js';

const DIGEST = 'a'.repeat(64);

function defaulted(spec: Partial<PodSpec>): PodSpec {
  const full = { containers: [], ...structuredClone(spec) };
  defaultPodSpec(full);
  return full;
}

const container = (fields: object = {}) => ({ name: 'a', image: 'nginx:1', ...fields });

describe('defaults of a pod spec', () => {
  it('are those of the genuine API', () => {
    expect(defaulted({ containers: [container()] })).toEqual({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      securityContext: {},
      containers: [
        {
          name: 'a',
          image: 'nginx:1',
          imagePullPolicy: 'IfNotPresent',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
    });
  });

  it.each([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.25', 'IfNotPresent'],
    ['localhost:5000/nginx', 'Always'],
    ['localhost:5000/a/nginx:1', 'IfNotPresent'],
    [`nginx@sha256:${DIGEST}`, 'IfNotPresent'],
    [`nginx:latest@sha256:${DIGEST}`, 'Always'],
    // A text that is no reference has no tag.
    ['nginx:latest@sha256:abc', 'IfNotPresent'],
    ['x'.repeat(247), 'Always'],
    ['x'.repeat(248), 'IfNotPresent'],
    [`host.example:5000/${'x'.repeat(255)}`, 'Always'],
  ])('pull the image %s: %s', (image, policy) => {
    expect(defaulted({ containers: [container({ image })] }).containers[0]?.imagePullPolicy).toBe(policy);
  });

  it('complete probes, ports and environment', () => {
    const spec = defaulted({
      containers: [
        container({
          ports: [{ containerPort: 80 }],
          env: [
            { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'B', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } },
          ],
          livenessProbe: { httpGet: { port: 80 }, initialDelaySeconds: 0 },
        }),
      ],
    });
    expect(spec.containers[0]).toMatchObject({
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      env: [
        { valueFrom: { fieldRef: { apiVersion: 'v1' } } },
        { valueFrom: { fileKeyRef: { optional: false } } },
      ],
    });
    expect(spec.containers[0]?.livenessProbe).toEqual({
      httpGet: { port: 80, path: '/', scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    });
  });

  it('complete volumes', () => {
    const { volumes } = defaulted({
      volumes: [
        { name: 'a' },
        { name: 'b', configMap: { name: 'c' } },
        { name: 'c', hostPath: { path: '/' } },
        { name: 'd', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      ],
    });
    expect(volumes).toEqual([
      { name: 'a', emptyDir: {} },
      { name: 'b', configMap: { name: 'c', defaultMode: 420 } },
      { name: 'c', hostPath: { path: '/', type: '' } },
      {
        name: 'd',
        projected: {
          defaultMode: 420,
          sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }],
        },
      },
    ]);
  });

  it('keep both names of the service account the same', () => {
    expect(defaulted({ serviceAccount: 'sa' })).toMatchObject({ serviceAccountName: 'sa' });
    expect(defaulted({ serviceAccountName: 'sa' })).toMatchObject({ serviceAccount: 'sa' });
  });

  it('leave out what means the same as nothing', () => {
    const spec = defaulted({ hostNetwork: false, containers: [container({ tty: false })] });
    expect(spec).not.toHaveProperty('hostNetwork');
    expect(spec.containers[0]).not.toHaveProperty('tty');
  });

  it('make requests of limits, and host ports, in pods only', () => {
    const spec = defaulted({
      hostNetwork: true,
      containers: [container({ ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1' } } })],
    });
    expect(spec.containers[0]?.resources).toEqual({ limits: { cpu: '1' } });
    defaultPodOnly(spec);
    expect(spec.containers[0]).toMatchObject({
      resources: { requests: { cpu: '1' } },
      ports: [{ containerPort: 80, hostPort: 80 }],
    });
    expect(spec.enableServiceLinks).toBe(true);
  });

  it.each(createKindRegistry().kinds)('change nothing the second time: $type.kind', (kind) => {
    const object: UnstructuredObject = {
      apiVersion: 'v1',
      kind: kind.type.kind,
      metadata: { name: 'a', namespace: 'b' },
    };
    kind.applyDefaults(object);
    const once = structuredClone(object);
    kind.applyDefaults(object);
    expect(object).toEqual(once);
  });
});
