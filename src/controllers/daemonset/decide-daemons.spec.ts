import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '../../machinery/kubernetes/index.js';
import type { DaemonSet } from '../../runtime/index.js';
import { aPod } from '../../testing/pod-builder.js';
import type { PodTraits } from '../../testing/pod-builder.js';
import { daemonPod, fitOf, targetNodeOf } from './daemon-pod.js';
import { decideDaemons, decideStatus, viewDaemons } from './decide-daemons.js';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const LONG_AGO = '2026-01-01T00:00:00Z';
type Rolling = NonNullable<DaemonSet['spec']['updateStrategy']>['rollingUpdate'];

function aSet(rollingUpdate: Rolling = {}, template: Partial<Pod['spec']> = {}): DaemonSet {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'DaemonSet' },
    metadata: { name: 'agent', namespace: 'default', uid: 'uid-agent' },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate },
      template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [], ...template } as never },
    },
  };
}

type Taints = NonNullable<NonNullable<Node['spec']>['taints']>;
const aNode = (name: string, taints: Taints = []): Node => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { os: 'linux' } } },
  spec: { taints },
});
const nodes = [aNode('a'), aNode('b'), aNode('c')];

/** A ready pod on a node, named after it. */
const daemon = (node: string, hash = 'new', traits: PodTraits = {}): Pod =>
  aPod({
    name: `${node}-${hash}`,
    node,
    labels: { app: 'agent', 'controller-revision-hash': hash },
    readySince: LONG_AGO,
    ...traits,
  });
const unready = (node: string, hash = 'new') => daemon(node, hash, { readySince: undefined });
const leaving = (node: string, hash = 'new') => daemon(node, hash, { deletedAt: LONG_AGO });

function decide(set: DaemonSet, pods: Pod[], on: Node[] = nodes) {
  const decision = decideDaemons(viewDaemons(set, pods, on, 'new', NOW));
  return { create: decision.create, delete: decision.delete.map(({ metadata }) => metadata.name) };
}

describe('a node has a pod', () => {
  it('if there is none, and one alone', () => {
    expect(decide(aSet(), [daemon('a')])).toEqual({ create: ['b', 'c'], delete: [] });
    const second = daemon('a', 'new', { name: 'second', createdAt: '2026-01-01T00:30:00Z' });
    expect(decide(aSet(), [daemon('a'), second, daemon('b'), daemon('c')]).delete).toEqual(['second']);
  });

  it('in place of one that has ended, once that is gone', () => {
    const ended = daemon('a', 'new', { phase: 'Failed' });
    expect(decide(aSet(), [ended, daemon('b'), daemon('c')])).toEqual({ create: [], delete: ['a-new'] });
    expect(decide(aSet(), [leaving('a'), daemon('b'), daemon('c')]).create).toEqual([]);
  });

  it('as long as the node is there', () => {
    expect(decide(aSet(), [daemon('a'), daemon('gone')], [aNode('a')]).delete).toEqual(['gone-new']);
  });

  it.each([
    {
      name: 'the labels that it asks for',
      set: aSet({}, { nodeSelector: { os: 'linux' } }),
      fit: [true, true],
    },
    { name: 'other labels', set: aSet({}, { nodeSelector: { os: 'other' } }), fit: [false, false] },
    { name: 'a taint', taints: [{ key: 'gpu', effect: 'NoSchedule' }], fit: [false, true] },
    { name: 'a taint that drives away', taints: [{ key: 'gpu', effect: 'NoExecute' }], fit: [false, false] },
    {
      name: 'trouble of its own',
      taints: [
        { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
        { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
      ],
      fit: [true, true],
    },
  ])('and its one of $name: should run and may stay $fit', ({ fit, set = aSet(), taints = [] }) => {
    const { mayStay, shouldRun } = fitOf(set, aNode('a', taints as Taints));
    expect([shouldRun, mayStay]).toEqual(fit);
  });
});

describe('a rollout', () => {
  const old = [daemon('a', 'old'), daemon('b', 'old'), daemon('c', 'old')];

  it('takes as many old pods as may be unavailable, and waits for the new ones', () => {
    expect(decide(aSet(), old).delete).toEqual(['a-old']);
    expect(decide(aSet({ maxUnavailable: '50%' }), old).delete).toEqual(['a-old', 'b-old']);
    expect(decide(aSet(), [unready('a'), ...old.slice(1)]).delete).toEqual([]);
    expect(decide(aSet(), [daemon('a'), ...old.slice(1)]).delete).toEqual(['b-old']);
  });

  it('takes those first that are of no use', () => {
    expect(decide(aSet(), [daemon('a', 'old'), daemon('b', 'old'), unready('c', 'old')]).delete).toEqual([
      'c-old',
    ]);
  });

  it('puts new pods beside the old ones, which go when the new ones are there', () => {
    const surge = aSet({ maxSurge: 1, maxUnavailable: 0 });
    expect(decide(surge, old)).toEqual({ create: ['a'], delete: [] });
    expect(decide(surge, [...old, unready('a')])).toEqual({ create: [], delete: [] });
    expect(decide(surge, [...old, daemon('a')]).delete).toEqual(['a-old']);
  });

  it('waits for people where that is asked for', () => {
    const set = aSet();
    set.spec.updateStrategy = { type: 'OnDelete' };
    expect(decide(set, old)).toEqual({ create: [], delete: [] });
  });
});

it('the status counts nodes', () => {
  const pods = [daemon('a'), unready('b', 'old'), daemon('gone')];
  expect(decideStatus(viewDaemons(aSet(), pods, nodes, 'new', NOW), 0)).toEqual({
    desiredNumberScheduled: 3,
    currentNumberScheduled: 2,
    numberMisscheduled: 1,
    numberReady: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
    numberUnavailable: 2,
    observedGeneration: 0,
  });
});

it('a pod is meant for its node, and tolerates what nodes suffer from', () => {
  const pod = daemonPod(aSet(), 'b', 'new', () => false);
  expect(targetNodeOf(pod)).toBe('b');
  expect(pod.metadata.labels).toEqual({ app: 'agent', 'controller-revision-hash': 'new' });
  expect(pod.spec.tolerations?.map(({ key }) => key)).toContain('node.kubernetes.io/not-ready');
  expect(daemonPod(aSet(), 'b', 'new', () => false).metadata.name).toBe(pod.metadata.name);
  expect(daemonPod(aSet(), 'c', 'new', () => false).metadata.name).not.toBe(pod.metadata.name);
});
