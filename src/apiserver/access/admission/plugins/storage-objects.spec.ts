import { describe, expect, it } from 'vitest';
import type { StorageClass, UnstructuredObject } from '../../../../machinery/kubernetes/index.js';
import { kinds, refusalOf } from '../admission.fixture.js';
import { SERVER } from '../attributes.js';
import { checkClaimGrowth, protectStorageObject } from './storage-objects.js';

const claim = (storage: string, phase = 'Bound', className = 'grows'): UnstructuredObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'a' },
  spec: { storageClassName: className, resources: { requests: { storage } } },
  status: { phase },
});

const aClass = (name: string, allowVolumeExpansion?: boolean): StorageClass => ({
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name } },
  ...{ provisioner: 'example.com/disks', allowVolumeExpansion },
});
const CLASSES = [aClass('grows', true), aClass('stays', false), aClass('silent')];

const refusalOfUpdate = (oldObject: UnstructuredObject, object: UnstructuredObject) =>
  refusalOf(() =>
    checkClaimGrowth(
      {
        ...{ operation: 'UPDATE', subresource: '', namespace: 'a', name: 'data', dryRun: false },
        ...{ kind: kinds.find('', 'v1', 'persistentvolumeclaims')!, caller: SERVER, oldObject, object },
      },
      (name) => CLASSES.find(({ metadata }) => metadata.name === name),
    ),
  );

describe('a claim that asks for more', () => {
  it('may, when it is bound and its class lets it', async () => {
    expect(await refusalOfUpdate(claim('1Gi'), claim('2Gi'))).toBeUndefined();
    expect(await refusalOfUpdate(claim('1Gi', 'Pending'), claim('1Gi', 'Pending'))).toBeUndefined();
  });

  it('may not before it is bound', async () => {
    expect(await refusalOfUpdate(claim('1Gi', 'Pending'), claim('2Gi', 'Pending'))).toContain(
      'Only bound persistent volume claims can be expanded',
    );
  });

  it.each(['stays', 'silent', 'gone', ''])('may not with the class "%s"', async (className) => {
    const [before, after] = ['1Gi', '2Gi'].map((size) => claim(size, 'Bound', className));
    expect(await refusalOfUpdate(before!, after!)).toContain(
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
  });
});

it('protects a claim once, and keeps the finalizers that it has', () => {
  const object = claim('1Gi');
  object.metadata.finalizers = ['example.com/f'];
  for (let time = 0; time < 2; time++) protectStorageObject(object, 'kubernetes.io/pvc-protection');
  expect(object.metadata.finalizers).toEqual(['example.com/f', 'kubernetes.io/pvc-protection']);
});
