import { describe, expect, it } from 'vitest';
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

  it('finds nothing that an object only inherits', () => {
    expect(compileJsonPath('.constructor')?.(object)).toEqual([]);
  });
});
