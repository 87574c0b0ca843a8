import { describe, expect, it } from 'vitest';
import type { PodTraits } from '../../../testing/pod-builder.js';
import { aPod } from '../../../testing/pod-builder.js';
import { trimPod } from '../../../client/informer/index.js';
import type { DeepReadonly, Pod } from '../../../machinery/kubernetes/index.js';
import { POD_DELETION_COST } from '../../../machinery/kubernetes/index.js';
import type { FirstToGo } from './first-to-go.js';
import { FIRST_TO_GO, firstToGo, readFirstToGo, renderFirstToGo } from './first-to-go.js';
import { podsToDelete, rankForDeletion } from './pods-to-delete.js';

const NOW = '2026-01-01T12:00:00Z';
const nowMs = Date.parse(NOW);
const HOURS_AGO = (hours: number): string => new Date(nowMs - hours * 3_600_000).toISOString();

interface Row {
  readonly name: string;
  readonly goes: PodTraits;
  readonly stays: PodTraits;
}

const rows: Row[] = [
  { name: 'unassigned before assigned', goes: {}, stays: { node: 'n1', phase: 'Pending' } },
  { name: 'pending before unknown', goes: { phase: 'Pending' }, stays: { phase: 'Unknown' } },
  { name: 'unknown before running', goes: { phase: 'Unknown' }, stays: { phase: 'Running' } },
  { name: 'not ready before ready', goes: { createdAt: HOURS_AGO(99) }, stays: { readySince: HOURS_AGO(1) } },
  {
    name: 'lower deletion cost before higher, even if ready for longer',
    goes: { readySince: HOURS_AGO(99), annotations: { [POD_DELETION_COST]: '-5' } },
    stays: { readySince: HOURS_AGO(1) },
  },
  {
    name: 'a deletion cost that is no number counts as 0',
    goes: { annotations: { [POD_DELETION_COST]: 'cheap' } },
    stays: { annotations: { [POD_DELETION_COST]: '1' } },
  },
  {
    name: 'ready for less time before ready for longer, by order of magnitude',
    goes: { readySince: HOURS_AGO(1) },
    stays: { readySince: HOURS_AGO(4) },
  },
  {
    name: 'within one order of magnitude the UID decides, not the age',
    goes: { readySince: HOURS_AGO(1.11), uid: 'a' },
    stays: { readySince: HOURS_AGO(1.1), uid: 'b' },
  },
  { name: 'more restarts before fewer', goes: { restarts: 3 }, stays: { restarts: 1 } },
  {
    name: 'more restarts of a sidecar before fewer, but only where the containers restarted as often',
    goes: { restarts: 1, sidecarRestarts: 3 },
    stays: { restarts: 1, sidecarRestarts: 2 },
  },
  {
    name: 'restarts of a container weigh more than those of a sidecar',
    goes: { restarts: 2 },
    stays: { restarts: 1, sidecarRestarts: 9 },
  },
  {
    name: 'restarts of an init container that ends count for nothing',
    goes: { createdAt: HOURS_AGO(1) },
    stays: { createdAt: HOURS_AGO(4), initRestarts: 9 },
  },
  { name: 'younger before older', goes: { createdAt: HOURS_AGO(1) }, stays: { createdAt: HOURS_AGO(4) } },
  { name: 'without a creation time before any', goes: {}, stays: { createdAt: HOURS_AGO(0.001) } },
];

describe('podsToDelete', () => {
  it.each(rows)('$name', ({ goes, stays }) => {
    const victim = aPod({ name: 'goes', ...goes });
    const survivor = aPod({ name: 'stays', ...stays });
    for (const pods of [
      [victim, survivor],
      [survivor, victim],
    ]) {
      expect(podsToDelete({ pods, related: [], count: 1, nowMs })).toEqual([victim]);
    }
  });

  it('takes pods of a zone that goes first before other ready ones, and after those that are not ready', () => {
    const isReady = { conditions: [{ type: 'Ready', status: 'True' as const }], phase: 'Running' };
    const [unready, there, elsewhere] = ['unready', 'there', 'elsewhere'].map((name) => {
      const pod = aPod({ name });
      return {
        ...pod,
        spec: { ...pod.spec, nodeName: `node-${name}` },
        status: name === 'unready' ? {} : isReady,
      };
    });
    const pods = [elsewhere!, there!, unready!];
    const goesFirst = (pod: DeepReadonly<Pod>): boolean => pod.spec.nodeName === 'node-there';
    const gone = [1, 2].map((count) =>
      podsToDelete({ pods, related: [], count, goesFirst, nowMs }).map(({ metadata }) => metadata.name),
    );
    expect(gone).toEqual([['unready'], ['unready', 'there']]);
  });

  it('ranks pods as the cache keeps them like those that the API server has', () => {
    for (const { name, goes, stays } of rows) {
      const pods = [aPod({ name: 'stays', ...stays }), aPod({ name: 'goes', ...goes })].map(trimPod);
      const [victim] = podsToDelete({ pods, related: [], count: 1, nowMs });
      expect(victim?.metadata.name, name).toBe('goes');
    }
  });

  it('takes first where the pods of one Deployment are doubled up on a node', () => {
    const pods = ['n1', 'n2', 'n3'].map((node) => aPod({ name: node, node }));
    const others = [
      aPod({ name: 'other-1', node: 'n2' }),
      aPod({ name: 'other-2', node: 'n3', phase: 'Failed' }),
    ];
    const victims = podsToDelete({ pods, related: [...pods, ...others], count: 1, nowMs });
    expect(victims.map(({ metadata }) => metadata.name)).toEqual(['n2']);
  });

  describe('with pods that were named beforehand', () => {
    const ready = { readySince: HOURS_AGO(9), phase: 'Running' } as const;
    const named = aPod({ name: 'named', uid: 'u-named', ...ready });
    const younger = aPod({ name: 'younger', uid: 'u-younger', phase: 'Running', readySince: HOURS_AGO(1) });
    const unready = aPod({ name: 'unready', uid: 'u-unready', phase: 'Running' });
    const pods = [younger, named, unready];
    const order = (first: FirstToGo): string[] =>
      rankForDeletion({ pods, related: [], first, nowMs }).map(({ metadata }) => metadata.name);

    it('takes them first among the ready, and before all where a person named them', () => {
      expect(order(firstToGo(2, [named]))).toEqual(['unready', 'named', 'younger']);
      expect(order(firstToGo(2, [named], { beforeUnready: true }))).toEqual(['named', 'unready', 'younger']);
    });

    it('does not mean another pod of the name', () => {
      const other = aPod({ name: 'named', uid: 'u-before', ...ready });
      expect(order(firstToGo(2, [other], { beforeUnready: true }))).toEqual(['unready', 'younger', 'named']);
    });

    it('means one size alone, and nothing where it cannot be read', () => {
      const replicaSet = (text: string) => ({
        ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
        metadata: { name: 'web', annotations: { [FIRST_TO_GO]: text } },
      });
      const first = firstToGo(2, [named]);
      expect(readFirstToGo(replicaSet(renderFirstToGo(first)), 2)).toEqual(first);
      expect(readFirstToGo(replicaSet(renderFirstToGo(first)), 3)).toBeUndefined();
      for (const text of ['', '{', '[]', '{"replicas":2}', '{"replicas":2,"pods":{"a":1}}'])
        expect(readFirstToGo(replicaSet(text), 2)).toBeUndefined();
    });
  });

  it('takes all when as many are to go', () => {
    const pods = [aPod({ name: 'a' }), aPod({ name: 'b' })];
    expect(podsToDelete({ pods, related: [], count: 2, nowMs })).toEqual(pods);
  });
});
