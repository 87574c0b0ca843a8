import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../../machinery/kubernetes/index.js';
import { admittedPod, kinds } from '../admission.fixture.js';
import { differenceOf, excessOf, statusAfter, vaguenessOf } from './decide-charge.js';
import type { ResourceQuota } from './decide-charge.js';
import { resourceCountedBy, usageOf } from './usage.js';

const PODS = kinds.find('', 'v1', 'pods')!.type;
const SERVICES = kinds.find('', 'v1', 'services')!.type;
const CLAIMS = kinds.find('', 'v1', 'persistentvolumeclaims')!.type;
const DEVICE_CLAIMS = kinds.find('resource.k8s.io', 'v1', 'resourceclaims')!.type;
const DEPLOYMENTS = kinds.find('apps', 'v1', 'deployments')!.type;

function aQuota(hard: Record<string, string>, used: Record<string, string> = {}, spec = {}): ResourceQuota {
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace: 'a' },
    spec: { hard, ...spec },
    status: { hard, used },
  };
}

function objectOf(spec: object): UnstructuredObject {
  return { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: { ...spec } };
}

const unstructured = (pod: ReturnType<typeof admittedPod>): UnstructuredObject =>
  pod as unknown as UnstructuredObject;

function aContainer(name: string, cpu: string, more: object = {}) {
  return { name, image: 'i', resources: { requests: { cpu }, limits: { cpu } }, ...more };
}

describe('The usage of', () => {
  it('a claim of devices is what it asks for of each class, and of alternatives the most', () => {
    const requests = [
      { name: 'a', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 } },
      { name: 'b', exactly: { deviceClassName: 'nic', allocationMode: 'All' } },
      {
        name: 'c',
        firstAvailable: [
          { name: 'x', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 },
          { name: 'y', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 3 },
          { name: 'z', deviceClassName: 'fpga', allocationMode: 'ExactCount', count: 1 },
        ],
      },
    ];
    expect(usageOf(DEVICE_CLAIMS, objectOf({ devices: { requests } }))).toEqual({
      'count/resourceclaims.resource.k8s.io': 1,
      'gpu.deviceclass.resource.k8s.io/devices': 5,
      'nic.deviceclass.resource.k8s.io/devices': 32,
      'fpga.deviceclass.resource.k8s.io/devices': 1,
    });
    expect(resourceCountedBy('gpu.deviceclass.resource.k8s.io/devices')).toBe(
      'resourceclaims.resource.k8s.io',
    );
  });

  it('a pod is what its containers need together, or one of its init containers with those that went on before', () => {
    const running = admittedPod({
      containers: [aContainer('a', '100m'), aContainer('b', '200m')],
      initContainers: [aContainer('i', '250m')],
    });
    expect(usageOf(PODS, unstructured(running))).toEqual({
      'count/pods': 1,
      pods: 1,
      cpu: '300m',
      'requests.cpu': '300m',
      'limits.cpu': '300m',
    });
    const starting = admittedPod({
      containers: [aContainer('a', '100m')],
      initContainers: [aContainer('s', '50m', { restartPolicy: 'Always' }), aContainer('i', '1')],
    });
    expect(usageOf(PODS, unstructured(starting)).cpu).toBe('1050m');
  });

  it('a pod that has come to its end is one object', () => {
    const pod = { ...unstructured(admittedPod()), status: { phase: 'Succeeded' } };
    expect(usageOf(PODS, pod)).toEqual({ 'count/pods': 1 });
  });

  it('services, claims and everything else', () => {
    expect(usageOf(SERVICES, objectOf({ type: 'LoadBalancer', ports: [{}, {}] }))).toEqual({
      'count/services': 1,
      services: 1,
      'services.nodeports': 2,
      'services.loadbalancers': 1,
    });
    const claim = objectOf({ storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } });
    expect(usageOf(CLAIMS, claim)).toMatchObject({
      persistentvolumeclaims: 1,
      'requests.storage': '1Gi',
      'fast.storageclass.storage.k8s.io/requests.storage': '1Gi',
      'fast.storageclass.storage.k8s.io/persistentvolumeclaims': 1,
    });
    expect(usageOf(DEPLOYMENTS, objectOf({}))).toEqual({ 'count/deployments.apps': 1 });
  });

  it('every name is found among the objects that it counts', () => {
    const expected = {
      pods: 'pods',
      'limits.memory': 'pods',
      'requests.nvidia.com/gpu': 'pods',
      'requests.storage': 'persistentvolumeclaims',
      'x.storageclass.storage.k8s.io/requests.storage': 'persistentvolumeclaims',
      'services.nodeports': 'services',
      'count/jobs.batch': 'jobs.batch',
      secrets: 'secrets',
    };
    for (const [name, resource] of Object.entries(expected)) expect(resourceCountedBy(name)).toBe(resource);
  });
});

describe('A quota', () => {
  it('counts what it names, up and down', () => {
    const quota = aQuota({ cpu: '2', 'count/pods': '10' });
    const pod = unstructured(admittedPod({ containers: [aContainer('a', '500m')] }));
    expect(differenceOf(quota, { type: PODS, object: pod })).toEqual({
      more: { cpu: '500m', 'count/pods': '1' },
      less: {},
    });
    const ended = { ...pod, status: { phase: 'Failed' } };
    expect(differenceOf(quota, { type: PODS, object: ended, oldObject: pod })).toEqual({
      more: {},
      less: { cpu: '500m' },
    });
    expect(differenceOf(aQuota({ secrets: '1' }), { type: PODS, object: pod })).toEqual({
      more: {},
      less: {},
    });
  });

  it('refuses what is more than is left, naming just that', () => {
    const quota = aQuota({ cpu: '2', pods: '4' }, { cpu: '1800m', pods: '1' });
    expect(excessOf(quota, { cpu: '300m', pods: '1' })).toBe(
      'exceeded quota: q, requested: cpu=300m, used: cpu=1800m, limited: cpu=2',
    );
    expect(excessOf(quota, { cpu: '200m', pods: '1' })).toBeUndefined();
  });

  it('wants containers to say what it counts of cpu and memory', () => {
    const quota = aQuota({ 'limits.memory': '1Gi', 'requests.cpu': '1' });
    const pod = admittedPod({ containers: [aContainer('a', '1'), { name: 'b', image: 'i' }] });
    expect(vaguenessOf(quota, { type: PODS, object: unstructured(pod) })).toBe(
      'failed quota: q: must specify limits.memory for: a,b; requests.cpu for: b',
    );
    const whole = admittedPod({ ...pod.spec, resources: { requests: { cpu: '1' } } });
    expect(vaguenessOf(quota, { type: PODS, object: unstructured(whole) })).toBeUndefined();
    expect(vaguenessOf(aQuota({ pods: '1' }), { type: PODS, object: unstructured(pod) })).toBeUndefined();
  });

  it.each([
    [{ scopes: ['Terminating'] }, { activeDeadlineSeconds: 5 }, {}],
    [{ scopes: ['NotTerminating'] }, {}, { activeDeadlineSeconds: 5 }],
    [{ scopes: ['BestEffort'] }, {}, { containers: [aContainer('a', '1')] }],
    [{ scopes: ['NotBestEffort'] }, { containers: [aContainer('a', '1')] }, {}],
    [
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high', 'higher'] }],
        },
      },
      { priorityClassName: 'high' },
      { priorityClassName: 'low' },
    ],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] } },
      { priorityClassName: 'low' },
      {},
    ],
    [
      { scopes: ['CrossNamespacePodAffinity'] },
      {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k', namespaces: ['b'] }],
          },
        },
      },
      {},
    ],
  ])('with %j counts the pods in it, and no others', (scope, inside, outside) => {
    const quota = aQuota({ pods: '5' }, {}, scope);
    const counted = (spec: object) =>
      differenceOf(quota, { type: PODS, object: unstructured(admittedPod(spec)) }).more;
    expect(counted(inside)).toEqual({ pods: '1' });
    expect(counted(outside)).toEqual({});
  });

  it.each([
    ['In', { volumeAttributesClassName: 'gold' }, {}, 1],
    ['In', {}, { currentVolumeAttributesClassName: 'gold' }, 1],
    ['In', { volumeAttributesClassName: 'lead' }, {}, 0],
    ['NotIn', { volumeAttributesClassName: 'lead' }, {}, 1],
    ['NotIn', {}, {}, 1],
    ['Exists', { volumeAttributesClassName: 'lead' }, {}, 1],
    ['Exists', {}, {}, 0],
    ['DoesNotExist', {}, {}, 1],
    ['DoesNotExist', { volumeAttributesClassName: 'lead' }, {}, 0],
  ])(
    'counts claims by attributes: classes (%s gold) count %j and %j as %i',
    (operator, spec, status, count) => {
      const values = operator === 'In' || operator === 'NotIn' ? { values: ['gold'] } : {};
      const matchExpressions = [{ scopeName: 'VolumeAttributesClass', operator, ...values }];
      const quota = aQuota({ persistentvolumeclaims: '5' }, {}, { scopeSelector: { matchExpressions } });
      const object = { ...objectOf(spec), status };
      const { more } = differenceOf(quota, { type: CLAIMS, object });
      expect(more).toEqual(count === 0 ? {} : { persistentvolumeclaims: '1' });
    },
  );

  it('counts what was allocated to a claim that asks for less again', () => {
    const claim = objectOf({ resources: { requests: { storage: '1Gi' } } });
    const grown = { ...claim, status: { allocatedResources: { storage: '2Gi' } } };
    expect(usageOf(CLAIMS, grown)).toMatchObject({ 'requests.storage': '2Gi' });
  });

  it('never shows less than nothing', () => {
    const quota = aQuota({ pods: '5' }, { pods: '1' });
    expect(statusAfter(quota, { less: { pods: '2' } }).used).toEqual({ pods: '0' });
    expect(statusAfter(quota, { more: { pods: '2' } })).toEqual({ hard: { pods: '5' }, used: { pods: '3' } });
  });
});
