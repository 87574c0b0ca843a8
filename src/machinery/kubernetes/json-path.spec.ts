import { describe, expect, it, vi } from 'vitest';
import { compileJsonPath } from './json-path.js';

const object = {
  metadata: { annotations: { 'a.b/c': 'dotted' } },
  spec: { replicas: 3, names: ['x', 'y'] },
  status: {
    conditions: [
      { type: 'Synced', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
  },
};

describe('a JSON path', () => {
  it.each([
    ['.spec.replicas', [3]],
    ['.spec.names[1]', ['y']],
    ['.spec.names[-1]', ['y']],
    ['.spec.names[*]', ['x', 'y']],
    ['.spec.missing.more', []],
    ['.metadata.annotations.a\\.b/c', ['dotted']],
    ["['metadata'].annotations['a.b/c']", ['dotted']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type!='Ready')].type", ['Synced']],
  ])('%s finds %j', (path, found) => {
    expect(compileJsonPath(path)?.(object)).toEqual(found);
  });

  it.each(['spec', '.spec[', '.spec[?(@.a>1)]'])('is not read when it is %s', (path) => {
    expect(compileJsonPath(path)).toBeUndefined();
  });

  it('compares neither objects nor lists in a filter, whatever they hold', () => {
    const nested = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown;
    const items = [{ a: { toString: 1, valueOf: 1 } }, { a: ['x'] }, { a: nested }, { a: 'x' }];
    expect(compileJsonPath('[?(@.a=="x")]')?.(items)).toEqual([{ a: 'x' }]);
    expect(compileJsonPath('[?(@.a!="x")]')?.(items)).toEqual(items.slice(0, 3));
  });

  it('looks at an item no further than it finds anything', () => {
    const flatMap = vi.spyOn(Array.prototype, 'flatMap');
    expect(compileJsonPath(`[?(@${'.a'.repeat(200)}=="x")]`)?.([1])).toEqual([]);
    const steps = flatMap.mock.calls.length;
    flatMap.mockRestore();
    expect(steps).toBeLessThan(10);
  });

  it('finds nothing that an object only inherits', () => {
    expect(compileJsonPath('.constructor')?.(object)).toEqual([]);
  });
});
