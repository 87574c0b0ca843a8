import { describe, expect, it } from 'vitest';
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../machinery/kubernetes/index.js';
import type { StorageView, VolumeNeeds } from './decide-volumes.js';
import { planVolumes, volumeNeedsOf, volumeObstacleOn } from './decide-volumes.js';

const LATE: StorageClass = {
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'late' } },
  provisioner: 'example.com/disks',
  volumeBindingMode: 'WaitForFirstConsumer',
};
const BY_HAND: StorageClass = {
  ...LATE,
  metadata: { name: 'by-hand' },
  provisioner: 'kubernetes.io/no-provisioner',
};
const ZONAL: StorageClass = {
  ...LATE,
  metadata: { name: 'zonal' },
  allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
};

const node = (zone: string): Node => ({
  ...{ apiVersion: 'v1', kind: 'Node' },
  metadata: { name: `node-${zone}`, labels: { zone } },
});

interface ClaimParts {
  readonly name?: string;
  readonly className?: string;
  readonly volumeName?: string;
  readonly phase?: 'Pending' | 'Lost';
  readonly isBound?: boolean;
  readonly isDeleted?: boolean;
}

const aClaim = (parts: ClaimParts = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    ...{ name: parts.name ?? 'data', namespace: 'a', uid: parts.name ?? 'data' },
    ...(parts.isBound && { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }),
    ...(parts.isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  },
  spec: {
    ...(parts.className !== undefined && { storageClassName: parts.className }),
    ...(parts.volumeName !== undefined && { volumeName: parts.volumeName }),
  },
  status: { phase: parts.phase ?? 'Pending' },
});

const aVolume = (name: string, zone: string): PersistentVolume => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
  spec: {
    storageClassName: 'by-hand',
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }],
      },
    },
  },
  status: { phase: 'Available' },
});

const aPod = (...claimNames: string[]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'pod', namespace: 'a' },
  spec: {
    containers: [{ name: 'main', image: 'db' }],
    volumes: claimNames.map((claimName, index) => ({
      name: `v${index}`,
      persistentVolumeClaim: { claimName },
    })),
  },
});

function storageOf(claims: PersistentVolumeClaim[], volumes: PersistentVolume[] = []): StorageView {
  return {
    claim: (_namespace, name) => claims.find(({ metadata }) => metadata.name === name),
    volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
    volumes: () => volumes,
    storageClass: (name) => [LATE, BY_HAND, ZONAL].find(({ metadata }) => metadata.name === name),
  };
}

function needsOf(storage: StorageView, ...claims: string[]): VolumeNeeds {
  const needs = volumeNeedsOf(aPod(...claims), storage);
  if ('unschedulable' in needs) throw new Error(needs.unschedulable);
  return needs;
}

describe('a pod', () => {
  it('has no needs without claims', () => {
    expect(volumeNeedsOf(aPod(), storageOf([]))).toEqual({ bound: [], delayed: [] });
  });

  it.each<[string, PersistentVolumeClaim[]]>([
    ['persistentvolumeclaim "data" not found', []],
    ['persistentvolumeclaim "data" is being deleted', [aClaim({ isDeleted: true })]],
    [
      'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"',
      [aClaim({ isBound: true, phase: 'Lost', volumeName: 'v' })],
    ],
    ['pod has unbound immediate PersistentVolumeClaims', [aClaim()]],
    ['pod has unbound immediate PersistentVolumeClaims', [aClaim({ className: 'late', volumeName: 'v' })]],
  ])('cannot be placed: %s', (unschedulable, claims) => {
    expect(volumeNeedsOf(aPod('data'), storageOf(claims))).toEqual({ unschedulable });
  });

  it('waits for the controller that makes the claims of its ephemeral volumes', () => {
    const pod = aPod();
    pod.spec.volumes = [{ name: 'scratch', ephemeral: {} }];
    expect(volumeNeedsOf(pod, storageOf([]))).toEqual({
      unschedulable:
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "pod-scratch"',
    });
  });
});

describe('a node', () => {
  it('must be within reach of volumes that are bound', () => {
    const storage = storageOf([aClaim({ isBound: true, volumeName: 'v' })], [aVolume('v', 'a')]);
    const needs = needsOf(storage, 'data');
    expect(volumeObstacleOn(node('a'), needs, storage)).toBeUndefined();
    expect(volumeObstacleOn(node('b'), needs, storage)).toBe('node(s) had volume node affinity conflict');
  });

  it('cannot make up for a volume that is gone', () => {
    const storage = storageOf([aClaim({ isBound: true, volumeName: 'gone' })]);
    expect(volumeObstacleOn(node('a'), needsOf(storage, 'data'), storage)).toBe(
      'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
    );
  });

  it('gives each claim that waits for it a volume of its own, or has one made', () => {
    const claims = [
      aClaim({ name: 'one', className: 'by-hand' }),
      aClaim({ name: 'two', className: 'by-hand' }),
      aClaim({ name: 'new', className: 'late' }),
    ];
    const volumes = [aVolume('a1', 'a'), aVolume('b1', 'b'), aVolume('a2', 'a')];
    const storage = storageOf(claims, volumes);
    const needs = needsOf(storage, 'one', 'two', 'new');
    const plans = planVolumes(node('a'), needs.delayed, storage);
    expect(plans?.map(({ claim, volume }) => [claim.metadata.name, volume?.metadata.name])).toEqual([
      ['one', 'a1'],
      ['two', 'a2'],
      ['new', undefined],
    ]);
    expect(volumeObstacleOn(node('b'), needs, storage)).toBe(
      "node(s) didn't find available persistent volumes to bind",
    );
  });

  it('must be where the class has volumes made', () => {
    const storage = storageOf([aClaim({ className: 'zonal' })]);
    const needs = needsOf(storage, 'data');
    expect(volumeObstacleOn(node('a'), needs, storage)).toBeUndefined();
    expect(volumeObstacleOn(node('b'), needs, storage)).toBeDefined();
  });
});
