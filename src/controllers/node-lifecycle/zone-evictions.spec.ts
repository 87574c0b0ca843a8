import { describe, expect, it } from 'vitest';
import type { Node } from '../../machinery/kubernetes/index.js';
import { ZoneEvictions, evictionRate, zoneKeyOf, zoneStateOf } from './zone-evictions.js';

function nodes(zone: string, ready: number, notReady: number): Node[] {
  return Array.from({ length: ready + notReady }, (_, index) => ({
    ...{ apiVersion: 'v1', kind: 'Node' },
    metadata: { name: `${zone}-${index}`, labels: { 'topology.kubernetes.io/zone': zone } },
    status: { conditions: [{ type: 'Ready', status: index < ready ? 'True' : 'Unknown' }] },
  }));
}

const lastOf = (all: readonly Node[]): Node => {
  const last = all.at(-1);
  if (!last) throw new Error('there is no node');
  return last;
};

describe('a zone', () => {
  it.each([
    { ready: 3, notReady: 0, state: 'normal' },
    { ready: 0, notReady: 1, state: 'full' },
    { ready: 1, notReady: 2, state: 'normal' },
    { ready: 1, notReady: 3, state: 'partial' },
    { ready: 4, notReady: 5, state: 'partial' },
    { ready: 5, notReady: 5, state: 'normal' },
  ])('with $ready ready nodes and $notReady others is $state', ({ notReady, ready, state }) => {
    expect(zoneStateOf(nodes('a', ready, notReady))).toBe(state);
  });

  it.each([
    { state: 'normal', size: 3, rate: 0.1 },
    { state: 'full', size: 3, rate: 0.1 },
    { state: 'partial', size: 50, rate: 0 },
    { state: 'partial', size: 51, rate: 0.01 },
  ] as const)('gives up, with $size nodes that are $state, $rate nodes a second', ({ rate, size, state }) => {
    expect(evictionRate(state, size)).toBe(rate);
  });

  it('is a region and a zone, by the labels of today or those before', () => {
    const node = (labels: Record<string, string>) =>
      zoneKeyOf({ ...lastOf(nodes('a', 1, 0)), metadata: { name: 'n', labels } });
    expect(node({ 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'z' })).toBe('r/z');
    expect(node({ 'failure-domain.beta.kubernetes.io/zone': 'z' })).toBe('/z');
    expect(node({})).toBe('/');
  });
});

describe('nodes that are not ready', () => {
  it('lose their pods one after the other in each zone', () => {
    const all = [...nodes('a', 3, 2), ...nodes('b', 3, 1)];
    const evictions = new ZoneEvictions();
    const [first, second] = [all[3], all[4]] as [Node, Node];
    expect(evictions.ask(first, all, 0)).toEqual({ isGranted: true });
    expect(evictions.ask(second, all, 4000)).toEqual({ isGranted: false, againInMs: 6000 });
    expect(evictions.ask(lastOf(all), all, 4000), 'another zone').toEqual({ isGranted: true });
    expect(evictions.ask(second, all, 10_000)).toEqual({ isGranted: true });
  });

  it('keep their pods while most of a small zone is not ready, and in a large one go a tenth as fast', () => {
    const evictions = new ZoneEvictions();
    const small = nodes('a', 1, 3);
    expect(evictions.ask(lastOf(small), small, 0)).toEqual({ isGranted: false, againInMs: 10_000 });
    const large = nodes('b', 10, 50);
    expect(evictions.ask(lastOf(large), large, 0)).toEqual({ isGranted: true });
    const next = large.at(-2) ?? lastOf(large);
    expect(evictions.ask(next, large, 95_000)).toEqual({ isGranted: false, againInMs: 5000 });
    expect(evictions.ask(lastOf(large), large, 95_000), 'the same again').toEqual({ isGranted: true });
    evictions.reset();
    expect(evictions.ask(next, large, 95_000)).toEqual({ isGranted: true });
  });
});
