import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aPod } from '../../../testing/pod-builder.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import type { Pod, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { POD_DELETION_COST } from '../../../machinery/kubernetes/index.js';
import { KEEP_SPREAD, SCALE_DOWN, SCALE_DOWN_OF_OWNER, skewOf, spreadsOf } from './keep-spread.js';
import type { NodeLabels } from './node-labels.js';
import { podsToDelete } from './pods-to-delete.js';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';

/** Node `a-1` is in zone `a`. */
const nodes: NodeLabels = {
  availability: 'known',
  valueOf: (node, label) => (label === HOST ? node : label === ZONE ? node.split('-')[0] : undefined),
};

type Constraints = NonNullable<
  NonNullable<ReplicaSet['spec']['template']>['spec']
>['topologySpreadConstraints'];

function aSet(
  topologySpreadConstraints?: Constraints,
  annotations: Record<string, string> = { [SCALE_DOWN]: KEEP_SPREAD },
): ReplicaSet {
  const labels = { app: 'web' };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
    metadata: { name: 'web', namespace: 'default', annotations },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [], topologySpreadConstraints } },
    },
  };
}

const over = (topologyKey: string, more: object = {}) => ({
  ...{ topologyKey, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const },
  labelSelector: { matchLabels: { app: 'web' } },
  ...more,
});

function ready(name: string, node: string, more: Parameters<typeof aPod>[0] = {}): Pod {
  const pod = aPod({ name, uid: name, node, phase: 'Running', readySince: '2026-01-01T11:00:00Z', ...more });
  return { ...pod, metadata: { ...pod.metadata, labels: { app: 'web', ...pod.metadata.labels } } };
}

/** The nodes that the pods which stay are on, sorted. */
function staysOn(set: ReplicaSet, pods: readonly Pod[], count: number, known = nodes): string[] {
  const spreads = spreadsOf(set, pods, known);
  const gone = new Set(podsToDelete({ pods, related: pods, count, spreads, nowMs }));
  return pods
    .filter((pod) => !gone.has(pod))
    .map(({ spec }) => spec.nodeName ?? '')
    .sort();
}

describe('a scale-down that keeps the spread', () => {
  const lopsided = ['b-1', 'c-1', 'a-1', 'a-2', 'a-3'].map((node, index) => ready(`pod-${index}`, node));

  it('takes pods of the fullest zone', () => {
    expect(staysOn(aSet(), lopsided, 2).map((node) => node[0])).toEqual(['a', 'b', 'c']);
    expect(staysOn(aSet(undefined, {}), lopsided, 2), 'not asked for').toEqual(['a-1', 'a-2', 'a-3']);
  });

  it('does as Kubernetes does where the labels of nodes are not known', () => {
    const unknown = { ...nodes, availability: 'starting' } as const;
    expect(staysOn(aSet(), lopsided, 2, unknown)).toEqual(['a-1', 'a-2', 'a-3']);
  });

  it('follows the constraints of the template, those that must be kept first', () => {
    const pods = ['a-1', 'a-1', 'b-1', 'b-2', 'b-3'].map((node, index) => ready(`pod-${index}`, node));
    const soft = over(ZONE, { whenUnsatisfiable: 'ScheduleAnyway' });
    expect(staysOn(aSet([soft, over(HOST)]), pods, 1)).toEqual(['a-1', 'b-1', 'b-2', 'b-3']);
    expect(staysOn(aSet([over(ZONE), over(HOST)]), pods, 1).filter((node) => node === 'a-1')).toHaveLength(2);
    expect(staysOn(aSet([over(ZONE), over(HOST)]), pods, 2)).toEqual(['a-1', 'b-2', 'b-3'].toSorted());
  });

  it('counts the pods that the constraint selects, those of other versions among them', () => {
    const of = (hash: string) => ({ labels: { app: 'web', 'pod-template-hash': hash } });
    const own = ['a-1', 'b-1'].map((node, index) => ready(`new-${index}`, node, of('new')));
    const old = ['b-2', 'b-3'].map((node, index) => ready(`old-${index}`, node, of('old')));
    const spread = (constraint: object) => {
      const [only] = spreadsOf(aSet([over(ZONE, constraint)]), [...own, ...old], nodes);
      return Object.fromEntries(only?.counts ?? []);
    };
    expect(spread({})).toEqual({ a: 1, b: 3 });
    expect(spread({ labelSelector: { matchLabels: { 'pod-template-hash': 'old' } } })).toEqual({ b: 2 });
    expect(spread({ labelSelector: undefined })).toEqual({});
  });

  it('says less than readiness, and than a deletion cost', () => {
    const cheap = ready('cheap', 'b-1', { annotations: { [POD_DELETION_COST]: '-1' } });
    expect(staysOn(aSet(), [cheap, ...lopsided.slice(1)], 1)).not.toContain('b-1');
  });

  it('is read on a ReplicaSet of a Deployment from what the Deployment controller has noted', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', controller: true };
    const owned = (annotations: Record<string, string>): ReplicaSet => {
      const set = aSet(undefined, annotations);
      return { ...set, metadata: { ...set.metadata, ownerReferences: [owner] } };
    };
    expect(spreadsOf(owned({ [SCALE_DOWN]: KEEP_SPREAD }), lopsided, nodes)).toEqual([]);
    expect(spreadsOf(owned({ [SCALE_DOWN_OF_OWNER]: KEEP_SPREAD }), lopsided, nodes)).toHaveLength(1);
  });

  it('never leaves a skew that is worse than by the ranking of Kubernetes', () => {
    const pod = fc.record({
      zone: fc.constantFrom('a', 'b', 'c', 'd'),
      host: fc.integer({ min: 1, max: 3 }),
      isReady: fc.boolean(),
      cost: fc.constantFrom(undefined, '-1', '1'),
      hours: fc.integer({ min: 0, max: 40 }),
    });
    fc.assert(
      fc.property(
        fc.array(pod, { minLength: 1, maxLength: 14 }),
        fc.nat(),
        fc.constantFrom([ZONE], [HOST], [ZONE, HOST], [HOST, ZONE]),
        (traits, some, keys) => {
          const pods = traits.map(({ cost, host, hours, isReady, zone }, index) =>
            ready(`pod-${index}`, `${zone}-${host}`, {
              readySince: isReady ? new Date(nowMs - hours * 3_600_000).toISOString() : undefined,
              ...(cost !== undefined && { annotations: { [POD_DELETION_COST]: cost } }),
            }),
          );
          const spreads = spreadsOf(aSet(keys.map((key) => over(key))), pods, nodes);
          const skews = (given: typeof spreads): number[] => {
            const count = some % (pods.length + 1);
            const gone = new Set(podsToDelete({ pods, related: pods, count, spreads: given, nowMs }));
            return spreads.map((spread) => {
              const left = new Map([...spread.counts.keys()].map((domain) => [domain, 0]));
              for (const each of pods) {
                const domain = spread.domainOf(each) ?? '';
                if (!gone.has(each)) left.set(domain, (left.get(domain) ?? 0) + 1);
              }
              return skewOf(left);
            });
          };
          const [usual, kept] = [skews([]), skews(spreads)];
          const differing = kept.findIndex((skew, index) => skew !== usual[index]);
          if (differing >= 0) expect(kept[differing]).toBeLessThan(usual[differing] ?? 0);
        },
      ),
      propertyRuns({ gate: 300, nightly: 5000 }),
    );
  });
});
