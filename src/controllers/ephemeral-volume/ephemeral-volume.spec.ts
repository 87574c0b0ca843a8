import { expect, it } from 'vitest';
import type { Pod } from '../../runtime/index.js';
import { wantedClaims } from './ephemeral-volume.js';
import { podOf } from '../../testing/pod-builder.js';

const template = {
  metadata: { labels: { app: 'cache' } },
  spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } },
};
const scratchPod = (metadata: Partial<Pod['metadata']> = {}, status: Pod['status'] = {}): Pod =>
  podOf({
    metadata: { name: 'web-1', namespace: 'a', uid: 'u', ...metadata },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [
        { name: 'scratch', ephemeral: { volumeClaimTemplate: template } },
        { name: 'other', emptyDir: {} },
      ],
    },
    status,
  });

it('makes a claim of each template, which goes with the pod', () => {
  expect(wantedClaims(scratchPod())).toEqual([
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        ...{ name: 'web-1-scratch', namespace: 'a', labels: { app: 'cache' } },
        ownerReferences: [
          expect.objectContaining({ kind: 'Pod', name: 'web-1', uid: 'u', controller: true }),
        ],
      },
      spec: template.spec,
    },
  ]);
});

it('makes none for a pod that has ended or is on its way out', () => {
  expect(wantedClaims(scratchPod({ deletionTimestamp: '2026-01-01T00:00:00Z' }))).toEqual([]);
  expect(wantedClaims(scratchPod({}, { phase: 'Succeeded' }))).toEqual([]);
});
