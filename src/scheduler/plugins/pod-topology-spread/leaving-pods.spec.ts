import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../machinery/clock/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import type { KubernetesObject, Pod } from '../../../machinery/kubernetes/index.js';
import { REPLACES_PODS_OF } from '../../../machinery/kubernetes/index.js';
import { podOf } from '../../../testing/pod-builder.js';
import { SchedulerCache } from '../../cache/scheduler-cache.js';
import { decidePod } from '../../decide/decide-pod.js';
import { viewOf } from '../../decide/random-world.fixture.js';
import { compileProfile } from '../../framework/compile-profile.js';
import type { ReadableNode } from '../../framework/node-info.js';
import { podInfoOf } from '../../node/pod-info.js';
import { podTopologySpread } from './pod-topology-spread.js';

const ZONE = 'topology.kubernetes.io/zone';

/** The first part of the pod's name is its ReplicaSet. */
function webPod(name: string, maxSkew: number, zone?: string): Pod {
  const owner = name.split('-')[0] ?? '';
  const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true };
  const metadata = { name, uid: name, namespace: 'a', labels: { app: 'web' }, ownerReferences: [reference] };
  const constraint = {
    ...{ maxSkew, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule' as const },
    labelSelector: { matchLabels: { app: 'web' } },
  };
  const spec = { topologySpreadConstraints: [constraint], ...(zone !== undefined && { nodeName: zone }) };
  return podOf({ metadata, spec });
}

/** A rollout that starts all new pods beside the old ones. */
class Rollout {
  private readonly cache = new SchedulerCache();
  private readonly view;
  private readonly profile;
  private readonly random = new SeededRandom(1);
  readonly placed: Record<string, number> = {};

  constructor(
    old: readonly string[],
    private readonly options: { readonly maxSkew: number; readonly isTold: boolean },
  ) {
    const annotations: Record<string, string> = options.isTold ? { [REPLACES_PODS_OF]: 'old' } : {};
    const replicaSet: KubernetesObject = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'new', namespace: 'a', annotations },
    };
    this.view = viewOf({ 'apps/replicasets': [replicaSet] });
    const plugin = podTopologySpread({}, { view: this.view, log: silentLogger });
    const Sort = { name: 'Sort', less: () => false };
    this.profile = compileProfile({ plugins: [Sort, plugin].map((each) => ({ plugin: each, weight: 1 })) });
    for (const zone of ['a', 'b']) this.cache.setNode(aNode(zone));
    for (const [index, zone] of old.entries())
      this.cache.setPod(webPod(`old-${index}`, options.maxSkew, zone));
  }

  /** The number of pods in each zone once the old ones are gone. @param prefers the zone that each pod goes to if it may */
  start(count: number, prefers: string): Readonly<Record<string, number>> {
    for (let index = 0; index < count; index++) {
      const decision = decidePod({
        pod: podInfoOf(webPod(`new-${index}`, this.options.maxSkew)),
        ...{ view: this.view, startIndex: 0, profile: this.profile, random: this.random },
        ...{ snapshot: this.cache.snapshot(), nominated: this.cache.nominated },
      });
      if (decision.kind !== 'chosen') throw new Error(`new-${index} is ${decision.kind}`);
      const names = decision.feasible.map(({ name }) => name);
      const zone = names.find((name) => name === prefers) ?? names[0] ?? '';
      this.placed[zone] = (this.placed[zone] ?? 0) + 1;
      this.cache.setPod(webPod(`new-${index}`, this.options.maxSkew, zone));
    }
    return this.placed;
  }
}

function aNode(zone: string): ReadableNode {
  const metadata = { name: zone, uid: zone, labels: { [ZONE]: zone, 'kubernetes.io/hostname': zone } };
  return { apiVersion: 'v1', kind: 'Node', metadata };
}

function skewOf(placed: Readonly<Record<string, number>>): number {
  return Math.abs((placed['a'] ?? 0) - (placed['b'] ?? 0));
}

describe('new pods of a rollout', () => {
  it.each([
    ['three pods of two zones may end in one of them [#121284]', ['a', 'a', 'b'], 2],
    ['the old pods of an even spread hide the new ones [#105661, #98215]', ['a', 'b', 'a', 'b'], 1],
    ['new pods make up for an uneven spread of the old ones [#122909]', ['a', 'a', 'a', 'b'], 1],
  ])('are spread as if the old ones were gone: %s', (_name, old, maxSkew) => {
    for (const prefers of ['a', 'b']) {
      const placed = new Rollout(old, { maxSkew, isTold: true }).start(old.length, prefers);
      expect(skewOf(placed), `all that may in ${prefers}`).toBeLessThanOrEqual(maxSkew);
    }
  });

  it('are spread beside the old ones if the scheduler is not told, as by kube-scheduler [#121284]', () => {
    const untold = new Rollout(['a', 'a', 'b'], { maxSkew: 2, isTold: false });
    expect(untold.start(3, 'b')).toEqual({ b: 3 });
  });
});
