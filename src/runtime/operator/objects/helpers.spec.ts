import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { DeepReadonly, KubernetesObject } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { aPod } from '../../../testing/pod-builder.js';
import type { ResourceEvent } from '../../../client/informer/index.js';
import { isConditionTrue, removeCondition, setCondition } from '../../../machinery/kubernetes/index.js';
import { defineKind } from '../kinds/kinds.js';
import { removeOwnerReference, setControllerReference, setOwnerReference } from './owners.js';
import {
  allOf,
  annotationsChanged,
  anyOf,
  generationChanged,
  labelsChanged,
  matching,
  not,
} from '../define/predicates.js';

describe('conditions', () => {
  const ready = (status: 'True' | 'False', message = '') => ({
    type: 'Ready',
    status,
    reason: 'Because',
    message,
  });

  it('move their time with their status, and with nothing else', async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const first = setCondition(undefined, ready('False'), clock);
    await clock.advance(60_000);
    const second = setCondition(first, ready('False', 'still not'), clock);
    expect(second).toEqual([{ ...ready('False', 'still not'), lastTransitionTime: '2026-01-01T00:00:00Z' }]);
    const third = setCondition(second, ready('True'), clock);
    expect(third).toMatchObject([{ status: 'True', lastTransitionTime: '2026-01-01T00:01:00Z' }]);
    expect([isConditionTrue(second, 'Ready'), isConditionTrue(third, 'Ready')]).toEqual([false, true]);
  });

  it('keep their place if they are of other types', () => {
    const clock = new FakeClock();
    const others = setCondition([], { ...ready('True'), type: 'A' }, clock);
    const both = setCondition(
      setCondition(others, ready('True'), clock),
      { ...ready('False'), type: 'A' },
      clock,
    );
    expect(both.map(({ type, status }) => `${type} ${status}`)).toEqual(['A False', 'Ready True']);
    expect(removeCondition(both, 'A')).toEqual([both[1]]);
  });
});

describe('owners', () => {
  const owner = aDeployment();

  it('control one object once', () => {
    const pod = aPod({ name: 'p' });
    setControllerReference(owner, pod);
    setControllerReference(owner, pod);
    expect(pod.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: 'web',
        uid: 'uid-of-web',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    const other = aDeployment();
    Object.assign(other.metadata, { name: 'other', uid: 'u2' });
    expect(() => setControllerReference(other, pod)).toThrow('Pod p is controlled by Deployment web');
    setOwnerReference(other, pod);
    expect(pod.metadata.ownerReferences?.[1]).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'other',
      uid: 'u2',
    });
    expect([removeOwnerReference(owner, pod), removeOwnerReference(owner, pod)]).toEqual([true, false]);
    expect(pod.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual(['u2']);
  });

  it('live in the same namespace, and are stored', () => {
    const elsewhere = aPod({ name: 'p' });
    elsewhere.metadata.namespace = 'elsewhere';
    expect(() => setControllerReference(owner, elsewhere)).toThrow('owner.metadata.namespace');
    const unstored = { ...owner, metadata: { ...owner.metadata, uid: undefined } };
    expect(() => setControllerReference(unstored, aPod({ name: 'p' }))).toThrow('owner.metadata.uid');
  });
});

describe('predicates', () => {
  const object = (metadata: Partial<KubernetesObject['metadata']>): DeepReadonly<KubernetesObject> => ({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a', generation: 1, ...metadata },
  });
  const change = (metadata: Partial<KubernetesObject['metadata']>): ResourceEvent<KubernetesObject> => ({
    type: 'modified',
    old: object({}),
    object: object(metadata),
  });
  const added: ResourceEvent<KubernetesObject> = { type: 'added', object: object({}), initial: false };

  it.each([
    { name: 'generationChanged', predicate: generationChanged, passes: { generation: 2 } },
    { name: 'labelsChanged', predicate: labelsChanged, passes: { labels: { a: 'b' } } },
    { name: 'annotationsChanged', predicate: annotationsChanged, passes: { annotations: { a: 'b' } } },
  ])('$name lets its change pass, what appears, and a deletion that begins', ({ passes, predicate }) => {
    expect(predicate(added)).toBe(true);
    expect(predicate(change(passes))).toBe(true);
    expect(predicate(change({ resourceVersion: '7' }))).toBe(false);
    expect(predicate(change({ deletionTimestamp: 'now' }))).toBe(true);
  });

  it('can be put together', () => {
    const either = anyOf(generationChanged, labelsChanged);
    expect([either(change({ generation: 2 })), either(change({ annotations: { a: 'b' } }))]).toEqual([
      true,
      false,
    ]);
    const both = allOf(generationChanged, labelsChanged);
    expect([both(change({ generation: 2 })), both(change({ generation: 2, labels: {} }))]).toEqual([
      false,
      true,
    ]);
    expect(not(labelsChanged)(change({}))).toBe(true);
  });

  it('see off, by the state of an object, one that ceases to match', () => {
    const labelled = matching((each) => each.metadata.labels?.['app'] === 'web');
    expect(labelled({ type: 'modified', old: object({ labels: { app: 'web' } }), object: object({}) })).toBe(
      true,
    );
    expect(labelled(change({}))).toBe(false);
  });
});

describe('a kind', () => {
  it('knows its plural as kubebuilder does', () => {
    const pluralOf = (kind: string) => defineKind({ group: 'example.com', version: 'v1', kind }).resource;
    expect(['Website', 'Policy', 'Ingress', 'Box'].map(pluralOf)).toEqual([
      'websites',
      'policies',
      'ingresses',
      'boxes',
    ]);
  });

  it.each([
    { field: 'group', group: 'Example' },
    { field: 'version', version: '1' },
    { field: 'kind', kind: 'website' },
    { field: 'resource', resource: 'Websites' },
  ])('without a proper $field is refused', ({ field, ...wrong }) => {
    const define = () => defineKind({ group: 'example.com', version: 'v1', kind: 'Website', ...wrong });
    expect(define).toThrow(`kind.${field}`);
  });
});
