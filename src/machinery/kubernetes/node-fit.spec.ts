import { describe, expect, it } from 'vitest';
import { isNodeSelected, nodeNamedByAffinity, tolerates } from './node-fit.js';
import type { Toleration } from './node-fit.js';
import type { Node, Pod } from './objects.js';

const node: Node = {
  ...{ apiVersion: 'v1', kind: 'Node' },
  metadata: { name: 'node-1', labels: { zone: 'a', cores: '8' } },
};

type Term = { matchExpressions?: object[]; matchFields?: object[] };
const requiring = (...nodeSelectorTerms: Term[]): Pod['spec'] =>
  ({
    containers: [],
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  }) as Pod['spec'];
const onNode = (...values: string[]): Term => ({
  matchFields: [{ key: 'metadata.name', operator: 'In', values }],
});
const where = (key: string, operator: string, ...values: string[]): Term => ({
  matchExpressions: [{ key, operator, values }],
});

describe('a node is what a pod asks for', () => {
  it.each([
    { name: 'by its labels', spec: { containers: [], nodeSelector: { zone: 'a' } }, is: true },
    { name: 'not with another label', spec: { containers: [], nodeSelector: { zone: 'b' } }, is: false },
    { name: 'by its name', spec: requiring(onNode('node-1')), is: true },
    { name: 'not with another name', spec: requiring(onNode('node-2')), is: false },
    {
      name: 'by one of several terms',
      spec: requiring(onNode('node-2'), where('zone', 'In', 'a')),
      is: true,
    },
    {
      name: 'not by half a term',
      spec: requiring({ ...onNode('node-2'), ...where('zone', 'In', 'a') }),
      is: false,
    },
    { name: 'by what it has not', spec: requiring(where('gpu', 'DoesNotExist')), is: true },
    { name: 'by a greater number', spec: requiring(where('cores', 'Gt', '4')), is: true },
    { name: 'not by a smaller one', spec: requiring(where('cores', 'Lt', '4')), is: false },
    { name: 'not by a term that asks for nothing', spec: requiring({}), is: false },
  ])('$name', ({ is, spec }) => {
    expect(isNodeSelected(spec, node)).toBe(is);
  });
});

it('the affinity of a pod names a node where it names just one', () => {
  expect(nodeNamedByAffinity(requiring(onNode('node-1')))).toBe('node-1');
  expect(nodeNamedByAffinity(requiring(onNode('node-1', 'node-2')))).toBeUndefined();
  expect(nodeNamedByAffinity({ containers: [] })).toBeUndefined();
});

describe('a toleration tolerates a taint', () => {
  const taint = { key: 'dedicated', value: '5', effect: 'NoSchedule' } as const;

  it.each<[string, Toleration, boolean]>([
    ['of its key and value', { key: 'dedicated', value: '5' }, true],
    [
      'of its key and value, for an empty operator',
      { key: 'dedicated', value: '5', operator: '' as 'Equal' },
      true,
    ],
    ['of its key, if it asks for no value', { key: 'dedicated', operator: 'Exists' }, true],
    ['of any key, if it asks for none', { operator: 'Exists' }, true],
    ['not of another value', { key: 'dedicated', value: '6' }, false],
    ['not of another effect', { operator: 'Exists', effect: 'NoExecute' }, false],
    // Off by default in Kubernetes 1.36.
    ['not by comparing numbers, even equal ones', { key: 'dedicated', value: '5', operator: 'Gt' }, false],
  ])('%s', (_what, toleration, does) => {
    expect(tolerates(toleration, taint)).toBe(does);
  });
});
