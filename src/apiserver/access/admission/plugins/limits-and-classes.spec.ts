import { describe, expect, it } from 'vitest';
import type { LimitRangeItem } from '../../../../machinery/generated/types/core-v1.js';
import type {
  Decoded,
  KubernetesObject,
  UnstructuredObject,
} from '../../../../machinery/kubernetes/index.js';
import { admittedPod } from '../admission.fixture.js';
import { setDefaultIngressClass, setDefaultStorageClass } from './default-classes.js';
import { applyLimitDefaults, breachesOfClaim, breachesOfPod } from './limit-ranger.js';
import type { LimitRange } from './limit-ranger.js';

type Item = Decoded<LimitRangeItem>;

function aRange(...limits: Item[]): LimitRange {
  return { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l', namespace: 'a' }, spec: { limits } };
}

function aContainer(name: string, requests?: Record<string, string>, limits?: Record<string, string>) {
  return { name, image: 'i', resources: { ...(requests && { requests }), ...(limits && { limits }) } };
}

describe('LimitRanger', () => {
  it('says what a container needs that does not say it, and notes it on the pod', () => {
    const range = aRange({
      type: 'Container',
      default: { cpu: '500m', memory: '512Mi' },
      defaultRequest: { cpu: '100m', memory: '256Mi' },
    });
    const pod = admittedPod({
      containers: [
        aContainer('c', { cpu: '50m' }),
        aContainer('full', { cpu: '1', memory: '1Gi' }, { cpu: '1', memory: '1Gi' }),
      ],
      initContainers: [aContainer('i')],
    });
    applyLimitDefaults(pod, [range]);
    expect(pod.spec.containers[0]?.resources).toEqual({
      requests: { cpu: '50m', memory: '256Mi' },
      limits: { cpu: '500m', memory: '512Mi' },
    });
    expect(pod.metadata.annotations?.['kubernetes.io/limit-ranger']).toBe(
      'LimitRanger plugin set: memory request for container c; cpu, memory limit for container c; cpu, memory request for init container i; cpu, memory limit for init container i',
    );
  });

  const bounded: Item = {
    type: 'Container',
    min: { cpu: '100m' },
    max: { cpu: '1', memory: '1Gi' },
    maxLimitRequestRatio: { cpu: '2' },
  };

  it.each([
    [aContainer('c', { cpu: '200m' }, { cpu: '400m', memory: '1Gi' }), []],
    [
      aContainer('c', { cpu: '50m' }, { cpu: '100m', memory: '1Gi' }),
      ['minimum cpu usage per Container is 100m, but request is 50m'],
    ],
    [
      aContainer('c', { cpu: '1' }, { cpu: '2', memory: '1536Mi' }),
      [
        'maximum cpu usage per Container is 1, but limit is 2',
        'maximum memory usage per Container is 1Gi, but limit is 1536Mi',
      ],
    ],
    [
      aContainer('c', { cpu: '100m' }, { cpu: '300m', memory: '1Gi' }),
      ['cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000'],
    ],
    [
      aContainer('c'),
      [
        'minimum cpu usage per Container is 100m.  No request is specified',
        'maximum cpu usage per Container is 1.  No limit is specified',
        'maximum memory usage per Container is 1Gi.  No limit is specified',
        'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
      ],
    ],
  ])('judges %j', (container, breaches) => {
    expect(breachesOfPod(admittedPod({ containers: [container] }), [aRange(bounded)])).toEqual(breaches);
  });

  it('judges the pod by all its containers, or its greatest init container', () => {
    const range = aRange({ type: 'Pod', max: { cpu: '1' } });
    const half = () => aContainer('c', { cpu: '600m' }, { cpu: '600m' });
    expect(breachesOfPod(admittedPod({ containers: [half()] }), [range])).toEqual([]);
    expect(breachesOfPod(admittedPod({ containers: [half(), half()] }), [range])).toEqual([
      'maximum cpu usage per Pod is 1, but limit is 1200m',
    ]);
    const greedy = aContainer('i', { cpu: '2' }, { cpu: '2' });
    expect(breachesOfPod(admittedPod({ containers: [half()], initContainers: [greedy] }), [range])).toEqual([
      'maximum cpu usage per Pod is 1, but limit is 2',
    ]);
  });

  it('judges claims by what they request', () => {
    const range = aRange({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } });
    const claim = (storage: string): UnstructuredObject => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c' },
      spec: { resources: { requests: { storage } } },
    });
    expect(breachesOfClaim(claim('1Gi'), [range])).toEqual([]);
    expect(breachesOfClaim(claim('500Mi'), [range])).toEqual([
      'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi',
    ]);
    expect(breachesOfClaim(claim('3Gi'), [range])).toEqual([
      'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
    ]);
  });
});

describe.each([
  {
    name: 'DefaultStorageClass',
    set: setDefaultStorageClass,
    field: 'storageClassName',
    annotation: 'storageclass.kubernetes.io/is-default-class',
    old: 'volume.beta.kubernetes.io/storage-class',
  },
  {
    name: 'DefaultIngressClass',
    set: setDefaultIngressClass,
    field: 'ingressClassName',
    annotation: 'ingressclass.kubernetes.io/is-default-class',
    old: 'kubernetes.io/ingress.class',
  },
])('$name', ({ annotation, field, old, set }) => {
  const aClass = (name: string, day: number, isDefault = 'true'): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Class',
    metadata: {
      name,
      creationTimestamp: `2026-01-0${day}T00:00:00Z`,
      annotations: { [annotation]: isDefault },
    },
  });
  const chosen = (classes: KubernetesObject[], object: Partial<UnstructuredObject> = {}): unknown => {
    const subject = {
      apiVersion: 'v1',
      kind: 'Thing',
      spec: {},
      ...object,
      metadata: { name: 'x', ...object.metadata },
    };
    set(subject, classes);
    return (subject.spec as Record<string, unknown>)[field];
  };

  it('chooses the newest of the default classes, and of equally old ones the first by name', () => {
    expect(chosen([aClass('a', 1), aClass('b', 2), aClass('c', 3, 'false')])).toBe('b');
    expect(chosen([aClass('b', 1), aClass('a', 1)])).toBe('a');
    expect(chosen([aClass('c', 3, 'false')])).toBeUndefined();
  });

  it('leaves what is named, in the old way as well', () => {
    expect(chosen([aClass('a', 1)], { spec: { [field]: 'own' } })).toBe('own');
    expect(chosen([aClass('a', 1)], { spec: { [field]: '' } })).toBe('');
    expect(
      chosen([aClass('a', 1)], { metadata: { name: 'x', annotations: { [old]: 'own' } } }),
    ).toBeUndefined();
  });
});
