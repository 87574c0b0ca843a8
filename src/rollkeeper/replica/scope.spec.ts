import { describe, expect, it } from 'vitest';
import { compileReplicaOptions } from './replica.options.js';

const needed = { 'redis-url': 'redis://127.0.0.1:6379', identity: 'r' };
const compile = (options: Record<string, unknown>) =>
  compileReplicaOptions({ ...needed, controllers: 'deployment,replicaset', ...options });

describe('the scope of an installation', () => {
  it('is everything where nothing is said, under the names that were always used', () => {
    const { scope, ...options } = compile({});
    expect(scope).toEqual({ namespaces: [] });
    expect(options).toMatchObject({ 'key-prefix': 'rollkeeper', 'leader-elect-resource-name': 'rollkeeper' });
  });

  it('is some namespaces, Deployments with some labels, or both', () => {
    const { scope } = compile({ namespaces: 'b, a,b,', selector: ' shard in (a, b) ' });
    expect(scope.namespaces).toEqual(['a', 'b']);
    expect(scope.selector).toBe('shard in (a, b)');
    expect(scope.selects?.({ shard: 'b' })).toBe(true);
    expect(scope.selects?.({})).toBe(false);
  });

  it('keeps what it stores and its lease apart from those of other scopes, the same on all replicas', () => {
    const prefixOf = (options: Record<string, unknown>) => compile(options)['key-prefix'];
    const a = prefixOf({ selector: 'shard=a' });
    expect(a).toMatch(/^rollkeeper-[0-9a-f]{8}$/);
    expect(prefixOf({ selector: 'shard!=a' })).not.toBe(a);
    expect(prefixOf({ selector: 'shard=a', namespaces: 'x' })).not.toBe(a);
    expect(prefixOf({ namespaces: 'y,x' })).toBe(prefixOf({ namespaces: 'x, y' }));
    expect(prefixOf({ namespaces: 'x', 'key-prefix': 'own' })).toMatch(/^own-/);
    expect(compile({ selector: 'shard=a' })['leader-elect-resource-name']).toBe(a);
    const named = compile({ selector: 'shard=a', 'leader-elect-resource-name': 'mine' });
    expect(named['leader-elect-resource-name'], 'who names a Lease means it').toBe('mine');
  });

  it.each([
    { wrong: { namespaces: 'a,B' }, says: 'namespaces: "B" is no namespace' },
    { wrong: { selector: 'a in (b' }, says: 'selector: unable to parse requirement' },
    {
      wrong: { namespaces: 'a', controllers: '*' },
      says: 'namespaces: garbage-collector and namespace must see the whole cluster',
    },
    {
      wrong: { selector: 'a=b', controllers: 'deployment,garbage-collector' },
      says: 'selector: garbage-collector must see the whole cluster',
    },
    { wrong: { 'kube-api-qps': '-1' }, says: 'kube-api-qps: must be at least 0' },
    { wrong: { 'kube-api-burst': '0' }, says: 'kube-api-burst: must be at least 1' },
  ])('is refused by name: $says', ({ wrong, says }) => {
    expect(() => compile(wrong)).toThrow(says);
  });
});
