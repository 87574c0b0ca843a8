import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { createKindRegistry } from '../../kinds/index.js';
import { decideDeletion } from './decide-deletion.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const kinds = createKindRegistry();
const podKind = kinds.find('', 'v1', 'pods')!;
const replicaSetKind = kinds.find('apps', 'v1', 'replicasets')!;
const eventKind = kinds.find('', 'v1', 'events')!;
const eventViewKind = kinds.find('events.k8s.io', 'v1', 'events')!;
const namespaceKind = kinds.find('', 'v1', 'namespaces')!;

function anObject(kind: string, metadata: object = {}, rest: object = {}): UnstructuredObject {
  return { apiVersion: 'v1', kind, metadata: { name: 'x', ...metadata }, ...rest };
}

const running = { spec: { nodeName: 'n1', terminationGracePeriodSeconds: 30 }, status: { phase: 'Running' } };

describe('decideDeletion', () => {
  it('removes at once what nothing keeps', () => {
    expect(decideDeletion(anObject('ReplicaSet'), replicaSetKind, {}, NOW).action).toBe('remove');
  });

  it('removes a pod that is on no node at once', () => {
    expect(decideDeletion(anObject('Pod', {}, { spec: {} }), podKind, {}, NOW).action).toBe('remove');
  });

  it.each(['Foreground', 'Orphan', 'Background', undefined] as const)(
    'removes an event at once, which the garbage collector does not look after, with the policy %s',
    (propagationPolicy) => {
      const left = anObject('Event', { finalizers: ['foregroundDeletion', 'orphan'] });
      for (const event of [anObject('Event'), left])
        for (const kind of [eventKind, eventViewKind])
          expect(decideDeletion(event, kind, { propagationPolicy }, NOW).action).toBe('remove');
      const held = anObject('Event', { finalizers: ['keep/me', 'orphan'] });
      expect(decideDeletion(held, eventKind, { propagationPolicy }, NOW)).toMatchObject({
        action: 'mark',
        object: { metadata: { finalizers: ['keep/me'] } },
      });
    },
  );

  it('marks a running pod with the time at which its grace is over', () => {
    const plan = decideDeletion(anObject('Pod', {}, running), podKind, {}, NOW);
    expect(plan).toMatchObject({
      action: 'mark',
      object: { metadata: { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 } },
    });
  });

  const going = { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 };

  it('never lengthens a grace', () => {
    const pod = anObject('Pod', going, running);
    expect(decideDeletion(pod, podKind, { gracePeriodSeconds: 60 }, NOW).action).toBe('keep');
    expect(decideDeletion(pod, podKind, {}, NOW).action).toBe('keep');
  });

  it('shortens a grace from when it began', () => {
    const plan = decideDeletion(
      anObject('Pod', going, running),
      podKind,
      { gracePeriodSeconds: 10 },
      NOW + 5000,
    );
    expect(plan).toMatchObject({
      action: 'mark',
      object: { metadata: { deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 10 } },
    });
  });

  it('ends at the last second that can be written when the grace is longer than all years', () => {
    const grace = 9223372036854775807n;
    const spec = { ...running.spec, terminationGracePeriodSeconds: grace };
    const plan = decideDeletion(anObject('Pod', {}, { ...running, spec }), podKind, {}, NOW);
    const metadata = { deletionTimestamp: '9999-12-31T23:59:59Z', deletionGracePeriodSeconds: grace };
    expect(plan).toMatchObject({ action: 'mark', object: { metadata } });
    const shortened = decideDeletion(
      anObject('Pod', metadata, running),
      podKind,
      { gracePeriodSeconds: 10 },
      NOW,
    );
    expect(shortened).toMatchObject({
      action: 'mark',
      object: { metadata: { deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 10 } },
    });
  });

  it('removes a pod when the grace asked for is 0, unless a finalizer keeps it', () => {
    const request = { gracePeriodSeconds: 0 };
    expect(decideDeletion(anObject('Pod', going, running), podKind, request, NOW).action).toBe('remove');
    const kept = anObject('Pod', { ...going, finalizers: ['keep/me'] }, running);
    expect(decideDeletion(kept, podKind, request, NOW)).toMatchObject({
      action: 'mark',
      object: { metadata: { deletionGracePeriodSeconds: 0 } },
    });
  });

  it.each([
    ['Foreground', [], ['foregroundDeletion']],
    ['Orphan', ['foregroundDeletion', 'a/b'], ['a/b', 'orphan']],
    ['Background', ['orphan', 'a/b'], ['a/b']],
  ] as const)('%s turns finalizers %j into %j', (propagationPolicy, finalizers, expected) => {
    const object = anObject('ReplicaSet', { finalizers: [...finalizers] });
    const plan = decideDeletion(object, replicaSetKind, { propagationPolicy }, NOW);
    expect(plan).toMatchObject({ action: 'mark', object: { metadata: { finalizers: expected } } });
  });

  it('raises the generation with the mark, once', () => {
    const object = anObject('ReplicaSet', { generation: 4, finalizers: ['a/b'] });
    const plan = decideDeletion(object, replicaSetKind, {}, NOW);
    if (plan.action !== 'mark') throw new Error(`expected a mark, got ${plan.action}`);
    expect(plan.object.metadata.generation).toBe(5);
    expect(decideDeletion(plan.object, replicaSetKind, {}, NOW).action).toBe('keep');
  });

  it('makes a namespace Terminating and keeps it while spec.finalizers is not empty', () => {
    const namespace = anObject(
      'Namespace',
      {},
      { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
    );
    const plan = decideDeletion(namespace, namespaceKind, {}, NOW);
    expect(plan).toMatchObject({ action: 'mark', object: { status: { phase: 'Terminating' } } });
    const emptied = { ...namespace, spec: { finalizers: [] } };
    expect(decideDeletion(emptied, namespaceKind, {}, NOW).action).toBe('remove');
  });

  it('leaves the object it is given alone', () => {
    const object = anObject('ReplicaSet', { finalizers: ['a/b'] });
    const before = structuredClone(object);
    decideDeletion(object, replicaSetKind, { propagationPolicy: 'Foreground' }, NOW);
    expect(object).toEqual(before);
  });
});
