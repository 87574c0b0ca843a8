import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../machinery/kubernetes/index.js';
import { Deployment, Pod } from '../../machinery/kubernetes/index.js';
import { trimFor, trimPod, trimPodKeepingSpec, trimToOwnership, trimsFor } from './trim.js';

const metadata = () => ({
  name: 'p',
  namespace: 'a',
  annotations: { 'controller.kubernetes.io/pod-deletion-cost': '5' },
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u', controller: true }],
  managedFields: [{ manager: 'kubelet' }],
});

describe('trimPod', () => {
  it('keeps why a container is not ready', () => {
    const state = { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } };
    const container = { name: 'c', ready: false, restartCount: 0, image: 'x', imageID: '', state };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: metadata(), spec: { containers: [] } };
    const trimmed = trimPod({ ...pod, status: { containerStatuses: [container] } });
    expect(trimmed.status?.containerStatuses).toEqual([container]);
  });

  it('keeps what victims are ranked by and drops what nobody reads', () => {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: metadata(),
      spec: {
        nodeName: 'n1',
        restartPolicy: 'Always',
        containers: [{ name: 'c', image: 'nginx', env: [{ name: 'A', value: 'b' }] }],
        initContainers: [
          { name: 'migrate', image: 'migrate' },
          { name: 'sidecar', image: 'proxy', restartPolicy: 'Always' },
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
      status: {
        phase: 'Running',
        podIP: '10.0.0.1',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
        containerStatuses: [
          {
            name: 'c',
            ready: true,
            restartCount: 3,
            image: 'nginx',
            imageID: 'x',
            containerID: 'docker://1',
            state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
          },
        ],
      },
    };
    const { managedFields: _dropped, ...kept } = metadata();
    expect(trimPod(pod)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: kept,
      spec: {
        containers: [],
        nodeName: 'n1',
        restartPolicy: 'Always',
        initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }],
      },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
        containerStatuses: [{ name: 'c', ready: true, restartCount: 3, image: 'nginx', imageID: 'x' }],
      },
    });
  });

  it('copes with a pod that has no status yet', () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: metadata(), spec: { containers: [] } };
    expect(trimPod(pod).status).toBeUndefined();
  });
});

const secret = (): UnstructuredObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: metadata(),
  data: { password: 'x' },
});

describe('trimFor', () => {
  it('drops only managedFields of types that it does not know', () => {
    const trimmed = trimFor(Deployment)(secret());
    expect(trimmed).toHaveProperty('data');
    expect(trimmed.metadata).not.toHaveProperty('managedFields');
    expect(trimFor(Pod)).not.toBe(trimFor(Deployment));
  });
});

describe('trimToOwnership', () => {
  it('keeps who an object is, who owns it and whether it may go, and nothing else', () => {
    const { name, namespace, ownerReferences } = metadata();
    const object = secret();
    Object.assign(object.metadata, { uid: 'u1', resourceVersion: '7', labels: { a: 'b' }, generation: 3 });
    const identity = { name, namespace, uid: 'u1', resourceVersion: '7' };
    expect(trimToOwnership(object)).toStrictEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...identity, ownerReferences },
    });
    const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] };
    const trimmed = trimToOwnership({ ...secret(), metadata: { ...identity, ...going } });
    expect(trimmed.metadata).toStrictEqual({ ...identity, ...going });
  });
});

describe('the parts of a type that controllers want', () => {
  const podsWith = (trim: typeof trimPod) => ({ trims: new Map([['pods', trim as never]]) });

  it('is kept where one of them wants it, and for nobody else', () => {
    const pod = (): Pod => ({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: metadata() },
      spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] },
    });
    expect(trimFor(Pod, trimsFor([{}]))(pod())).toEqual(trimPod(pod()));
    const wider = trimsFor([{}, podsWith(trimPodKeepingSpec)]);
    expect(trimFor(Pod, wider)(pod())).toEqual(trimPodKeepingSpec(pod()));
  });

  it('leaves the metadata whole: others read it', () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u' }];
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata(), ownerReferences, managedFields: [{}] },
    };
    const nothing = { trims: new Map([['pods', () => ({})]]) };
    const { managedFields: _managedFields, ...kept } = pod.metadata;
    expect(trimFor(Pod, trimsFor([nothing]))(structuredClone(pod))).toEqual({ ...pod, metadata: kept });
  });

  it('must be the same part for all of them', () => {
    const other = (pod: Pod): Pod => pod;
    const both = [podsWith(trimPodKeepingSpec), podsWith(other)];
    expect(() => trimsFor(both)).toThrow('two controllers want different parts of pods');
  });

  it('may be how pods are reached, what they ask for and which claims they use', () => {
    const ports = [{ name: 'http', containerPort: 8080 }];
    const pod: Pod = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: metadata() },
      spec: {
        tolerations: [{ key: 'a' }],
        volumes: [
          { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
          { name: 'tmp', emptyDir: {} },
        ],
        containers: [{ name: 'c', image: 'nginx', ports, env: [{ name: 'A', value: 'b' }] }],
      },
      status: { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }] },
    };
    expect(trimPodKeepingSpec(pod)).toMatchObject({
      spec: { tolerations: [{ key: 'a' }], containers: [{ name: 'c', ports }] },
      status: { podIPs: [{ ip: '10.0.0.1' }] },
    });
    expect(trimPodKeepingSpec(pod).spec.volumes?.map(({ name }) => name)).toEqual(['data']);
    expect(trimPodKeepingSpec(pod).spec.containers[0]).not.toHaveProperty('env');
  });
});
