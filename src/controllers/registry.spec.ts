import { describe, expect, it } from 'vitest';
import { selectControllers } from './registry.js';

const selected = (list: string): string[] => selectControllers(list).map(({ name }) => name);

describe('--controllers', () => {
  it.each([
    { list: '*', names: ['deployment', 'replicaset', 'garbage-collector', 'namespace'] },
    { list: '*,-namespace', names: ['deployment', 'replicaset', 'garbage-collector'] },
    { list: '-namespace,*', names: ['deployment', 'replicaset', 'garbage-collector'] },
    { list: 'replicaset, deployment', names: ['deployment', 'replicaset'] },
  ])('$list means $names', ({ list, names }) => {
    expect(selected(list)).toEqual(names);
  });

  it.each(['daemonset', '', '*,-daemonset', '-deployment'])('refuses "%s"', (list) => {
    expect(() => selected(list)).toThrow(/^controllers: /);
  });
});
