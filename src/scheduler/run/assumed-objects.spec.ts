import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import type { ClusterView } from '../framework/cluster-view.js';
import { FakeClock } from '../../testing/index.js';
import { AssumedObjects } from './assumed-objects.js';

interface Volume extends KubernetesObject {
  spec: { taken?: string };
}

const volume = (resourceVersion: string, taken?: string, uid = 'u'): Volume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'disk', uid, resourceVersion },
  spec: { ...(taken && { taken }) },
});

function setUp() {
  const seen = { now: volume('5') as Volume | undefined };
  const cache = {
    get: () => seen.now,
    list: () => (seen.now ? [seen.now] : []),
  } as unknown as ClusterView;
  const clock = new FakeClock();
  const objects = new AssumedObjects(cache, clock);
  const taken = () => [
    objects.get<Volume>('persistentvolumes', { name: 'disk' })?.spec.taken,
    objects.list<Volume>('persistentvolumes')[0]?.spec.taken,
  ];
  return { clock, objects, seen, taken };
}

describe('an object that a decision has changed', () => {
  it('is so at once, and stays so while the cache shows what the decision saw', () => {
    const { objects, taken } = setUp();
    objects.assume('persistentvolumes', volume('5', 'me'));
    expect(taken()).toEqual(['me', 'me']);
  });

  it('is what the cache shows once that is later', () => {
    const { objects, seen, taken } = setUp();
    objects.assume('persistentvolumes', volume('5', 'me'));
    seen.now = volume('6', 'other');
    expect(taken()).toEqual(['other', 'other']);
  });

  it('is what it was once the decision is undone', () => {
    const { objects, taken } = setUp();
    objects.assume('persistentvolumes', volume('5', 'me'));
    objects.restore('persistentvolumes', { name: 'disk' });
    expect(taken()).toEqual([undefined, undefined]);
  });

  it('is gone when it is, and another of its name is another', () => {
    const { objects, seen, taken } = setUp();
    objects.assume('persistentvolumes', volume('5', 'me'));
    seen.now = volume('3', undefined, 'other');
    expect(taken()).toEqual([undefined, undefined]);
    seen.now = undefined;
    expect(objects.get('persistentvolumes', { name: 'disk' })).toBeUndefined();
  });
});

describe('an object that is about to be created', () => {
  const names = (objects: AssumedObjects) =>
    objects.list<Volume>('persistentvolumes').map(({ metadata }) => metadata.resourceVersion);
  const unborn = (): Volume => ({ ...volume(''), metadata: { name: '<new>' } });

  it('is listed until the cache shows it as it was made', () => {
    const { objects, seen } = setUp();
    seen.now = undefined;
    const expected = objects.expect('persistentvolumes', unborn());
    expect(names(objects)).toHaveLength(1);
    expected.created(volume('7', 'me'));
    expect(names(objects)).toEqual(['7']);
    // The cache shows it as it was created, before it was taken.
    seen.now = volume('6');
    expect(names(objects)).toEqual(['6', '7']);
    seen.now = volume('7', 'me');
    expect(names(objects)).toEqual(['7']);
    seen.now = undefined;
    expect(names(objects)).toEqual([]);
  });

  it('is not once it is known that it will not be', () => {
    const { objects, seen } = setUp();
    seen.now = undefined;
    objects.expect('persistentvolumes', unborn()).forget();
    expect(names(objects)).toEqual([]);
  });

  it('is given up where the cache never shows it: it was deleted at once', async () => {
    const { clock, objects, seen } = setUp();
    seen.now = undefined;
    objects.expect('persistentvolumes', unborn()).created(volume('7'));
    await clock.advance(119_000);
    expect(names(objects)).toEqual(['7']);
    await clock.advance(2_000);
    expect(names(objects)).toEqual([]);
  });
});
