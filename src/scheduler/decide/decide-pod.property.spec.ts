import { SeededRandom } from '@rollkeeper/machinery/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SchedulerCache } from '../cache/scheduler-cache.js';
import type { ClusterView } from '../framework/cluster-view.js';
import type { PodInfo, ReadablePod, Snapshot } from '../framework/node-info.js';
import type { Profile } from '../framework/profile.js';
import { podInfoOf } from '../node/pod-info.js';
import { Attempt } from './attempt.js';
import { decidePod } from './decide-pod.js';
import { preFilter } from './pre-filter.js';
import { CLAIMS, WorldDraws, defaultProfile, viewOf } from './random-world.fixture.js';

/**
 * On random clusters that fill up, one decision after the other:
 * - no pod is put where any filter refuses it when it is asked alone, or where a check that knows nothing of plug-ins finds it wrong;
 * - every refused node is refused by the plug-in that is named, asked alone;
 * - the pods that preemption evicts are of lower priority, and once they are gone the pod fits on its nominated node.
 */
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

class Cluster {
  readonly cache = new SchedulerCache();
  readonly draws: WorldDraws;
  readonly view: ClusterView;
  readonly profile: Profile;
  private readonly random: SeededRandom;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.draws = new WorldDraws(this.random);
    this.view = viewOf({ ...CLAIMS, 'policy/poddisruptionbudgets': [this.draws.budget()] });
    this.profile = defaultProfile(this.view);
    for (let index = 0; index < 4; index++) this.cache.setNode(this.draws.node(`node-${index}`));
  }

  decide(pod: PodInfo) {
    const { cache, profile, random, view } = this;
    const snapshot = cache.snapshot();
    const decision = decidePod({
      ...{ pod, snapshot, view, profile, random, startIndex: 0 },
      nominated: cache.nominated,
    });
    if (decision.kind === 'failed') throw new Error(`${decision.plugin}: ${decision.message}`);
    return { decision, snapshot };
  }

  /** The only plug-in's word on each node. */
  askAlone(plugin: string, pod: PodInfo, snapshot: Snapshot): (node: string) => boolean {
    const isIt = ({ name }: { readonly name: string }): boolean => name === plugin;
    const profile = {
      ...this.profile,
      preFilter: this.profile.preFilter.filter(isIt),
      filter: this.profile.filter.filter(isIt),
    };
    const context = { pod, snapshot, view: this.view };
    const attempt = new Attempt({ context, profile, nominated: { on: () => [] } });
    const { refusal } = preFilter(attempt);
    return (node) => !refusal && attempt.filter(snapshot.get(node)!) === undefined;
  }
}

describe('decisions on random clusters', () => {
  it('put no pod where a filter refuses it, and name who refuses', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const cluster = new Cluster(seed);
        for (let step = 0; step < 12; step++) {
          const pod = podInfoOf(cluster.draws.pod());
          const { decision, snapshot } = cluster.decide(pod);
          for (const [node, { plugin = '' }] of decision.refusals)
            expect(cluster.askAlone(plugin, pod, snapshot)(node), `${plugin} on ${node}`).toBe(false);
          if (decision.kind !== 'chosen') continue;
          for (const { name } of cluster.profile.filter)
            for (const feasible of decision.feasible)
              expect(cluster.askAlone(name, pod, snapshot)(feasible.name), name).toBe(true);
          expect(faultsOf(pod.pod, decision.node.name, snapshot)).toEqual([]);
          cluster.cache.assume(pod, decision.node.name);
        }
      }),
    );
  });

  it('evict only pods of lower priority, and then the pod fits where it is nominated', () => {
    let preemptions = 0;
    fc.assert(
      fc.property(seeds, (seed) => {
        const cluster = new Cluster(seed);
        for (let step = 0; step < 16; step++) {
          const pod = podInfoOf(cluster.draws.pod());
          const { decision } = cluster.decide(pod);
          if (decision.kind === 'chosen') cluster.cache.assume(pod, decision.node.name);
          const node = decision.kind === 'refused' ? decision.nomination?.node : undefined;
          if (decision.kind !== 'refused' || node === undefined) continue;
          preemptions++;
          expect(decision.victims.length).toBeGreaterThan(0);
          for (const victim of decision.victims) {
            expect(victim.priority).toBeLessThan(pod.priority);
            cluster.cache.removePod(victim.key);
          }
          const status = { ...pod.pod.status, nominatedNodeName: node };
          const again = cluster.decide(podInfoOf({ ...pod.pod, status })).decision;
          expect(again).toMatchObject({ kind: 'chosen', node: { name: node } });
          cluster.cache.assume(pod, node);
        }
      }),
    );
    expect(preemptions).toBeGreaterThan(20);
  });
});

/** The faults of the pod on the node, judged from the objects alone. */
function faultsOf(pod: ReadablePod, name: string, snapshot: Snapshot): string[] {
  const { node, pods } = snapshot.get(name)!;
  const others = pods.map((info) => info.pod);
  const faults: string[] = [];
  const cpu = [...others, pod].reduce((sum, each) => sum + milliCpuOf(each), 0);
  if (cpu > Number(node.status?.allocatable?.['cpu']) * 1000) faults.push('cpu');
  if (others.length + 1 > Number(node.status?.allocatable?.['pods'])) faults.push('pods');
  if (others.some((other) => portOf(pod) !== undefined && portOf(other) === portOf(pod)))
    faults.push('ports');
  if (node.spec?.unschedulable === true) faults.push('cordon');
  if ((node.spec?.taints ?? []).length > 0 && !pod.spec.tolerations) faults.push('taint');
  if (pod.spec.nodeSelector && node.metadata.labels?.['disk'] !== 'ssd') faults.push('selector');
  for (const there of snapshot.nodes)
    for (const { pod: other } of there.pods) {
      const isSame = (key: string): boolean =>
        node.metadata.labels?.[key] !== undefined &&
        node.metadata.labels[key] === there.node.metadata.labels?.[key];
      if (repels(pod, other, isSame) || repels(other, pod, isSame)) faults.push('anti-affinity');
      if (pod.spec.volumes && other.spec.volumes) faults.push('claim');
    }
  return faults;
}

function repels(one: ReadablePod, other: ReadablePod, isSameDomain: (key: string) => boolean): boolean {
  const terms = one.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.some(
    ({ labelSelector, topologyKey }) =>
      isSameDomain(topologyKey) && labelSelector?.matchLabels?.['app'] === other.metadata.labels?.['app'],
  );
}

function milliCpuOf({ spec }: ReadablePod): number {
  return parseInt(String(spec.containers[0]?.resources?.requests?.['cpu']), 10);
}

function portOf({ spec }: ReadablePod): number | undefined {
  return spec.containers[0]?.ports?.[0]?.hostPort;
}
