import { describe, expect, it } from 'vitest';
import { CONTROLLERS, selectControllers } from './registry.js';

const selected = (list: string): string[] => selectControllers(list).map(({ name }) => name);

describe('--controllers', () => {
  it.each([
    { list: '*', names: ['deployment', 'replicaset', 'garbage-collector', 'namespace'] },
    { list: '*,-namespace', names: ['deployment', 'replicaset', 'garbage-collector'] },
    { list: '-namespace,*', names: ['deployment', 'replicaset', 'garbage-collector'] },
    {
      list: '*,disruption',
      names: ['deployment', 'replicaset', 'garbage-collector', 'namespace', 'disruption'],
    },
    { list: 'podgc,nodelifecycle', names: ['node-lifecycle', 'pod-garbage-collector'] },
    { list: 'replicaset, deployment', names: ['deployment', 'replicaset'] },
    { list: 'deployment,-replicaset', names: ['deployment'] },
  ])('$list means $names', ({ list, names }) => {
    expect(selected(list)).toEqual(names);
  });

  it.each([
    { list: 'namespace,-namespace', names: ['namespace'] },
    { list: '*,-namespace,namespace', names: ['deployment', 'replicaset', 'garbage-collector'] },
    { list: '-namespace,namespace,*', names: ['deployment', 'replicaset', 'garbage-collector'] },
    { list: '-namespace-controller,namespace,deployment', names: ['deployment'] },
  ])('takes the first mention of a controller, under any of its names: $list means $names', (example) => {
    expect(selected(example.list)).toEqual(example.names);
  });

  it.each([
    { list: 'deployment-controller', names: ['deployment'] },
    { list: 'replicaset-controller', names: ['replicaset'] },
    { list: 'garbage-collector-controller', names: ['garbage-collector'] },
    { list: 'garbagecollector', names: ['garbage-collector'] },
    { list: 'namespace-controller', names: ['namespace'] },
    { list: '*,-garbagecollector,-namespace-controller', names: ['deployment', 'replicaset'] },
  ])("knows kube-controller-manager's names, old and new: $list means $names", ({ list, names }) => {
    expect(selected(list)).toEqual(names);
  });

  it('means by * all there are, where no other controller manager works beside', () => {
    const all = CONTROLLERS.map(({ name }) => name);
    const standalone = (list: string) =>
      selectControllers(list, { standalone: true }).map(({ name }) => name);
    expect(standalone('*')).toEqual(all);
    expect(standalone('*,-node-lifecycle')).toEqual(all.filter((name) => name !== 'node-lifecycle'));
    expect(standalone('disruption')).toEqual(['disruption']);
  });

  it.each(['replication', '', '*,-replication', '-deployment', '*,,namespace', '-', '-*'])(
    'refuses "%s"',
    (list) => {
      expect(() => selected(list)).toThrow(/^controllers: /);
    },
  );

  it('says with a refusal which names there are', () => {
    expect(() => selected('*,-replication-controller')).toThrow(
      'controllers: "-replication-controller" is none of *, deployment or deployment-controller, ' +
        'replicaset or replicaset-controller, ' +
        'garbage-collector or garbage-collector-controller or garbagecollector, ' +
        'namespace or namespace-controller',
    );
  });

  it('has no name that two controllers go by', () => {
    const names = CONTROLLERS.flatMap(({ aliases = [], name }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
  });
});
