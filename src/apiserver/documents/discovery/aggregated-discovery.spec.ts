import { beforeEach, describe, expect, it } from 'vitest';
import { createKindRegistry } from '../../kinds/index.js';
import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import { AggregatedDiscovery } from './index.js';

const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const STALE = { group: 'metrics.example.com', version: 'v1' };
let kinds: KindRegistry;
let discovery: AggregatedDiscovery;

beforeEach(() => {
  kinds = createKindRegistry();
  discovery = new AggregatedDiscovery(kinds);
});

function custom(kind: string): KindDefinition {
  const type = { group: 'shop.example.com', version: 'v1', resource: 'items', kind, namespaced: true };
  return { ...kinds.find('', 'v1', 'configmaps')!, type };
}

const text = (part: 'core' | 'groups', stale = [STALE]): string =>
  String(discovery.answer(ACCEPT, part, stale)?.raw);

describe('aggregated discovery', () => {
  it('is not made again while nothing has changed', () => {
    const first = discovery.answer(ACCEPT, 'groups', [STALE]);
    expect(first?.headers).toHaveProperty('ETag');
    expect(discovery.answer(ACCEPT, 'groups', [STALE])).toBe(first);
  });

  it('is made again when a kind is added, replaced or removed', () => {
    expect(text('groups')).not.toContain('shop.example.com');
    kinds.put(custom('Item'));
    expect(text('groups')).toContain('"kind":"Item"');
    kinds.put(custom('Article'));
    expect(text('groups')).toContain('"kind":"Article"');
    kinds.remove(custom('Article').type);
    expect(text('groups')).not.toContain('shop.example.com');
  });

  it('is made again when the groups of other servers change', () => {
    expect(text('groups')).toContain('metrics.example.com');
    expect(text('groups', [])).not.toContain('metrics.example.com');
  });

  it('has answers of its own for the core group, and for each version', () => {
    expect(text('core')).toContain('"resource":"configmaps"');
    expect(text('groups')).not.toContain('"resource":"configmaps"');
    const older = discovery.answer(ACCEPT.replace('v=v2', 'v=v2beta1'), 'groups');
    expect(older).toMatchObject({ contentType: expect.stringContaining('v=v2beta1') as string });
  });

  it('is left to clients that ask for it', () => {
    expect(discovery.answer('application/json', 'core')).toBeUndefined();
    expect(discovery.answer(undefined, 'core')).toBeUndefined();
  });
});
