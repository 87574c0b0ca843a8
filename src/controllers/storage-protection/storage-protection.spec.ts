import { expect, it } from 'vitest';
import { decideProtection, uses } from './storage-protection.js';

const FINALIZER = 'kubernetes.io/pvc-protection';
const DELETED = { deletionTimestamp: '2026-01-01T00:00:00Z' };

it.each([
  ['is protected while it lives', {}, { action: 'protect', finalizers: [FINALIZER] }],
  [
    'keeps the finalizers of others',
    { finalizers: ['example.com/f'] },
    { action: 'protect', finalizers: ['example.com/f', FINALIZER] },
  ],
  ['needs no second one', { finalizers: [FINALIZER] }, undefined],
  [
    'may be given up when it is deleted',
    { ...DELETED, finalizers: [FINALIZER, 'example.com/f'] },
    { action: 'give-up', finalizers: ['example.com/f'] },
  ],
  ['gets none when it is deleted', { ...DELETED, finalizers: ['example.com/f'] }, undefined],
])('an object %s', (_rule, metadata, expected) => {
  const object = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c', ...metadata } };
  expect(decideProtection(object, FINALIZER)).toEqual(expected);
});

const PLACED = { nodeName: 'node-1', containers: [{ name: 'main', image: 'db' }] };
const CLAIMED = { ...PLACED, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'pod-data' } }] };
const EPHEMERAL = { ...PLACED, volumes: [{ name: 'data', ephemeral: {} }] };
const SHUT_DOWN = { ...DELETED, deletionGracePeriodSeconds: 0 };

it.each([
  [true, 'is on a node', CLAIMED, {}],
  [true, 'is on its way out', CLAIMED, SHUT_DOWN],
  [true, 'has it as its own', EPHEMERAL, { ...DELETED, deletionGracePeriodSeconds: 30 }],
  [false, 'has no node', { ...CLAIMED, nodeName: '' }, {}],
  [false, 'has another one', PLACED, {}],
  [false, 'had it as its own, and has stopped', EPHEMERAL, SHUT_DOWN],
])('a claim is used (%s) by a pod that %s', (expected, _rule, spec, metadata) => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', ...metadata }, spec };
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'pod-data' } };
  expect(uses(pod, claim)).toBe(expected);
});
