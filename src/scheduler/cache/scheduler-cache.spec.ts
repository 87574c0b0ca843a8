import { describe, expect, it } from 'vitest';
import type { ReadableNode, ReadablePod } from '../framework/node-info.js';
import { podInfoOf } from '../node/pod-info.js';
import { SchedulerCache } from './scheduler-cache.js';
import { podOf } from '../../testing/pod-builder.js';

const aNode = (
  name: string,
  labels: Record<string, string> = {},
  images: readonly string[] = [],
): ReadableNode => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } },
  status: { images: images.map((image) => ({ names: [image], sizeBytes: name.length })) },
});
const inZone = (name: string, zone: string): ReadableNode =>
  aNode(name, { 'topology.kubernetes.io/zone': zone });
const podNamed = (name: string, node?: string, parts: Partial<ReadablePod> = {}): ReadablePod => ({
  ...podOf({ metadata: { name, namespace: 'a', uid: name }, spec: { nodeName: node } }),
  ...parts,
});
const podsOn = (cache: SchedulerCache, node: string) =>
  cache
    .snapshot()
    .get(node)
    ?.pods.map(({ key }) => key);

describe('the order of the search', () => {
  it('takes one node of each zone in turn', () => {
    const cache = new SchedulerCache();
    for (const [name, zone] of [
      ['a1', 'a'],
      ['a2', 'a'],
      ['a3', 'a'],
      ['b1', 'b'],
      ['c1', 'c'],
      ['c2', 'c'],
    ])
      cache.setNode(inZone(name!, zone!));
    const order = () => cache.snapshot().nodes.map(({ name }) => name);
    expect(order()).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    cache.setNode(inZone('a1', 'b'));
    cache.removeNode('c1');
    expect(order()).toEqual(['a2', 'b1', 'c2', 'a3', 'a1']);
  });
});

describe('a pod', () => {
  const cacheOf = (...nodes: readonly string[]) => {
    const cache = new SchedulerCache();
    for (const name of nodes) cache.setNode(aNode(name));
    return cache;
  };

  it('stays, once assumed, through news from before, and moves where the informer says', () => {
    const cache = cacheOf('one', 'two');
    cache.assume(podInfoOf(podNamed('p')), 'one');
    cache.setPod(podNamed('p'));
    expect(podsOn(cache, 'one')).toEqual(['a/p']);
    cache.setPod(podNamed('p', 'two'));
    expect([podsOn(cache, 'one'), podsOn(cache, 'two')]).toEqual([[], ['a/p']]);
  });

  it('is forgotten, once assumed, until its binding is confirmed', () => {
    const cache = cacheOf('one');
    cache.assume(podInfoOf(podNamed('p')), 'one');
    cache.forget('a/p');
    expect(podsOn(cache, 'one')).toEqual([]);
    cache.assume(podInfoOf(podNamed('p')), 'one');
    cache.confirm('a/p');
    cache.forget('a/p');
    cache.setPod(podNamed('p'));
    expect(podsOn(cache, 'one')).toEqual(['a/p']);
  });

  it('takes the place of the pod whose name it took', () => {
    const cache = cacheOf('one');
    cache.setPod(podNamed('p', 'one'));
    const next = podNamed('p');
    cache.setPod({ ...next, metadata: { ...next.metadata, uid: 'next' } });
    expect(podsOn(cache, 'one')).toEqual([]);
  });

  it('takes nothing any more once it has finished', () => {
    const cache = cacheOf('one');
    cache.setPod(podNamed('p', 'one'));
    cache.setPod(podNamed('p', 'one', { status: { phase: 'Succeeded' } }));
    expect(podsOn(cache, 'one')).toEqual([]);
  });

  it('is counted once its node is there, and again when the node comes back', () => {
    const cache = cacheOf();
    cache.setPod(podNamed('p', 'one'));
    cache.setNode(aNode('one'));
    cache.removeNode('one');
    expect(podsOn(cache, 'one')).toBeUndefined();
    cache.setNode(aNode('one'));
    expect(podsOn(cache, 'one')).toEqual(['a/p']);
    cache.removePod('a/p');
    expect(podsOn(cache, 'one')).toEqual([]);
  });

  it('is nominated to one node, until it is placed or gone', () => {
    const cache = cacheOf('one', 'two');
    const pod = podInfoOf(podNamed('p'));
    const nominated = () => ['one', 'two'].map((node) => cache.nominated.on(node).map(({ key }) => key));
    cache.nominate(pod, 'one');
    cache.nominate(pod, 'two');
    expect(nominated()).toEqual([[], ['a/p']]);
    cache.assume(pod, 'one');
    expect(nominated()).toEqual([[], []]);
    cache.nominate(pod, 'two');
    cache.clearNomination('a/p');
    expect(nominated()).toEqual([[], []]);
    cache.nominate(pod, 'two');
    cache.removePod('a/p');
    expect(nominated()).toEqual([[], []]);
  });
});

describe('an image', () => {
  it('is counted on the nodes that have it, with the size that the first one told', () => {
    const cache = new SchedulerCache();
    cache.setNode(aNode('first', {}, ['web']));
    cache.setNode(aNode('second-one', {}, ['web:latest']));
    const image = () => cache.snapshot().get('second-one')?.images.get('web:latest');
    expect(image()).toMatchObject({ nodes: 2, size: 5 });
    cache.setNode(aNode('first', {}, ['db']));
    expect(image()).toMatchObject({ nodes: 1, size: 5 });
  });
});

it('a snapshot without changes is the same, and shares what has not changed', () => {
  const cache = new SchedulerCache();
  for (const name of ['one', 'two']) cache.setNode(aNode(name));
  const before = cache.snapshot();
  expect(cache.snapshot()).toBe(before);
  cache.setPod(podNamed('p', 'one'));
  const after = cache.snapshot();
  expect(after.get('two')).toBe(before.get('two'));
  expect(before.get('one')?.pods).toEqual([]);
});
