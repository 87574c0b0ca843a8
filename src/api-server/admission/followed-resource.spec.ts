import { afterEach, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../base/kubernetes/index.js';
import { waitFor } from '../../testing/wait-for.js';
import type { MemoryStorage } from '../storage/index.js';
import { followedOf } from './admission.fixture.js';

const RESOURCE = 'limitranges';

function anObject(
  name: string,
  labels: Record<string, string> = {},
  resourceVersion?: string,
): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name, namespace: 'a', labels, resourceVersion },
  };
}

const stop: AbortController[] = [];
afterEach(() => stop.splice(0).forEach((each) => each.abort()));

async function following(
  storage: MemoryStorage,
  follow: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stopper = new AbortController();
  stop.push(stopper);
  void storage.run(stopper.signal);
  void follow(stopper.signal);
}

describe('A followed resource', () => {
  it('knows what was there, and what others write and remove', async () => {
    const { followed, storage } = await followedOf(RESOURCE, anObject('old'));
    await following(storage, (signal) => followed.run(signal));
    const key = { resource: RESOURCE, namespace: 'a', name: 'new' };
    const { revision } = await storage.create(key, anObject('new'));
    await waitFor(() => followed.get('a', 'new') !== undefined);
    expect(followed.list('a').map(({ metadata }) => metadata.name)).toEqual(['old', 'new']);
    await storage.delete(key, revision);
    await waitFor(() => followed.get('a', 'new') === undefined);
    expect(followed.list('b')).toEqual([]);
  });

  it('does not believe older news, of a state or of a removal', async () => {
    const { followed } = await followedOf<KubernetesObject>(RESOURCE);
    followed.observe(anObject('x', { is: 'new' }, '9'));
    followed.observe(anObject('x', { is: 'old' }, '8'));
    expect(followed.get('a', 'x')?.metadata.labels).toEqual({ is: 'new' });
    followed.forget('a', 'x', 10);
    followed.observe(anObject('x', { is: 'new' }, '9'));
    expect(followed.get('a', 'x')).toBeUndefined();
    expect(followed.list('a')).toEqual([]);
    followed.observe(anObject('x', { is: 'again' }, '11'));
    followed.forget('a', 'x', 10);
    expect(followed.get('a', 'x')?.metadata.labels).toEqual({ is: 'again' });
  });

  it('starts anew at once when the store was replaced', async () => {
    const { followed, storage } = await followedOf(RESOURCE, anObject('before'));
    await following(storage, (signal) => followed.run(signal));
    const key = { resource: RESOURCE, namespace: 'a', name: 'after' };
    async function* records() {
      yield { key, object: anObject('after') };
    }
    await storage.replaceAll(records());
    await waitFor(() => followed.get('a', 'after') !== undefined);
    expect(followed.get('a', 'before')).toBeUndefined();
  });

  it('keeps what it is told while it reads', async () => {
    const { followed, storage } = await followedOf(RESOURCE, anObject('old'));
    const key = { resource: RESOURCE, namespace: 'a', name: 'new' };
    const loading = followed.load();
    const { object } = await storage.create(key, anObject('new'));
    followed.observe(object);
    await loading;
    expect(followed.get('a', 'new')).toBeDefined();
  });
});
