import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildController } from '../../../runtime/controller/index.js';
import { FakeClock, SeededRandom } from '../../../machinery/clock/index.js';
import type { ControllerDefinition } from '../../../runtime/controller/index.js';
import type { LabelSelector } from '../../../machinery/kubernetes/index.js';
import {
  Deployment,
  ReplicaSet,
  RollkeeperDeployment,
  newControllerRef,
} from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { FakeInformers } from '../../../testing/fake-informers.js';
import { MemoryEventRecorder } from '../../../testing/memory-event-recorder.js';
import { aReplicaSet } from '../../../testing/replicaset-harness.js';
import { createDeploymentController, deploymentController } from '../../deployment/index.js';
import { replicaSetController } from '../../replicaset/index.js';
import { SELECTOR_INDEX, selectorIndex } from '../../../runtime/index.js';
import { TEMPLATE_INDEX, templateIndex } from './selector-index.js';
import { findRivals, selectorsOverlap } from './selector-overlap.js';

type Labels = Record<string, string>;

function deployment(
  name: string,
  labels: Labels,
  selector: LabelSelector = { matchLabels: labels },
): Deployment {
  const base = aDeployment();
  const template = { ...base.spec.template, metadata: { labels } };
  return {
    ...base,
    metadata: { ...base.metadata, name, uid: `uid-of-${name}` },
    spec: { ...base.spec, selector, template },
  };
}

function replicaSet(
  name: string,
  labels: Labels,
  selector: LabelSelector = { matchLabels: labels },
): ReplicaSet {
  const base = aReplicaSet({ selector });
  const template = { ...base.spec.template, metadata: { labels } };
  return {
    ...base,
    metadata: { ...base.metadata, name, uid: `uid-of-${name}` },
    spec: { ...base.spec, template },
  };
}

/** The controller on the leader, and its overlap events: `b: Its selector …`. */
function leading(definition: ControllerDefinition, cluster: FakeCluster) {
  const events = new MemoryEventRecorder();
  const informers = new FakeInformers(cluster);
  const built = buildController(definition, {
    informers,
    discovery: cluster,
    clock: new FakeClock(),
    random: new SeededRandom(1),
    logger: silentLogger,
    events,
  });
  const stop = built.watch(() => undefined);
  const told = (): string[] =>
    events.events
      .splice(0)
      .map(({ key, message, reason, type }) => {
        expect([type, reason]).toEqual(['Warning', 'SelectorOverlap']);
        return `${key.replace('default/', '')}: ${/as that of (.*)\. Give/.exec(message)?.[1]}`;
      })
      .sort();
  return { stop, told };
}

describe('selectors that take the same pods', () => {
  it('are reported on both Deployments when the second one comes', async () => {
    const cluster = new FakeCluster();
    const { told } = leading(deploymentController, cluster);
    await cluster.create(Deployment, deployment('wide', { app: 'web' }));
    expect(told()).toEqual([]);
    await cluster.create(Deployment, deployment('narrow', { app: 'web', tier: 'front' }));
    expect(told()).toEqual(['narrow: Deployment "wide"', 'wide: Deployment "narrow"']);
    await cluster.create(Deployment, deployment('other', { app: 'db' }));
    expect(told()).toEqual([]);
  });

  it('are reported also when the one that selects more comes last', async () => {
    const cluster = new FakeCluster();
    const { told } = leading(deploymentController, cluster);
    await cluster.create(Deployment, deployment('narrow', { app: 'web', tier: 'front' }));
    const exists = { matchExpressions: [{ key: 'tier', operator: 'Exists' }] };
    await cluster.create(Deployment, deployment('wide', { tier: 'back' }, exists));
    expect(told()).toEqual(['narrow: Deployment "wide"', 'wide: Deployment "narrow"']);
  });

  it('are reported again only when something about them changes', async () => {
    const cluster = new FakeCluster();
    cluster.seed(Deployment, deployment('a', { app: 'web' }));
    const b = cluster.seed(Deployment, deployment('b', { app: 'web', tier: 'front' }));
    const { stop, told } = leading(deploymentController, cluster);
    expect(told()).toEqual(['a: Deployment "b"', 'b: Deployment "a"']);
    const scaled = await cluster.update(Deployment, { ...b, spec: { ...b.spec, replicas: 3 } });
    expect(told()).toEqual([]);
    const template = { ...b.spec.template, metadata: { labels: { app: 'web', tier: 'front', new: 'yes' } } };
    await cluster.update(Deployment, { ...scaled, spec: { ...scaled.spec, template } });
    expect(told()).toEqual(['a: Deployment "b"', 'b: Deployment "a"']);
    stop();
    await cluster.create(Deployment, deployment('c', { app: 'web' }));
    expect(told()).toEqual([]);
  });

  it('are reported on Deployments of two APIs, but not while one goes from the one to the other', async () => {
    const cluster = new FakeCluster();
    const custom = (name: string, paused?: boolean): Deployment => {
      const base = deployment(name, { app: 'web' });
      return {
        ...base,
        apiVersion: 'rollkeeper.dev/v1',
        metadata: { ...base.metadata, uid: `custom-${name}` },
        spec: { ...base.spec, paused },
      };
    };
    const [ours, theirs] = [
      createDeploymentController({ neighbours: ['rollkeeper.dev/v1'] }),
      createDeploymentController({ api: 'rollkeeper.dev/v1', neighbours: ['apps/v1'] }),
    ].map((definition) => leading(definition, cluster).told);
    await cluster.create(Deployment, deployment('a', { app: 'web' }));
    await cluster.create(RollkeeperDeployment, custom('b'));
    expect(ours?.()).toEqual([]);
    expect(theirs?.()).toEqual(['a: Deployment "b" of rollkeeper.dev/v1', 'b: Deployment "a" of apps/v1']);
    const moving = deployment('c', { app: 'db' });
    const paused = { ...moving, spec: { ...moving.spec, paused: true } };
    await cluster.create(Deployment, paused);
    const copy = custom('c', true);
    await cluster.create(RollkeeperDeployment, {
      ...copy,
      spec: { ...copy.spec, selector: moving.spec.selector, template: moving.spec.template },
    });
    expect([ours?.(), theirs?.()]).toEqual([[], []]);
  });

  it('are named three at a time, and no more are reported of a newcomer', async () => {
    const cluster = new FakeCluster();
    for (const name of ['a', 'b', 'c', 'd', 'e']) cluster.seed(Deployment, deployment(name, { app: 'web' }));
    const { told } = leading(deploymentController, cluster);
    told();
    await cluster.create(Deployment, deployment('z', { app: 'web' }));
    const lines = told();
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe('z: Deployment "a", Deployment "b", Deployment "c" and 2 more');
  });

  it('are not reported of what does nothing: an empty selector, what is being deleted, itself', () => {
    const web = deployment('web', { app: 'web' });
    const deleted = deployment('old', { app: 'web' });
    deleted.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(selectorsOverlap(web, deployment('all', { app: 'x' }, {}))).toBe(false);
    expect(selectorsOverlap(web, deleted)).toBe(false);
    expect(selectorsOverlap(web, web)).toBe(false);
    const wrong = { matchExpressions: [{ key: 'app', operator: 'Like' }] };
    expect(selectorsOverlap(web, deployment('wrong', { app: 'x' }, wrong))).toBe(false);
  });

  it('are reported on ReplicaSets, but for two of which Deployments take care', async () => {
    const cluster = new FakeCluster();
    const owned = (name: string): ReplicaSet => {
      const set = replicaSet(name, { app: 'web', 'pod-template-hash': name });
      set.metadata.ownerReferences = [newControllerRef(deployment('web', { app: 'web' }))];
      return set;
    };
    cluster.seed(ReplicaSet, owned('web-1'));
    cluster.seed(ReplicaSet, owned('web-2'));
    const idle = owned('web-0');
    cluster.seed(ReplicaSet, { ...idle, spec: { ...idle.spec, replicas: 0 } });
    const { told } = leading(replicaSetController, cluster);
    expect(told()).toEqual([]);
    await cluster.create(ReplicaSet, replicaSet('alone', { app: 'web' }));
    expect(told()).toEqual([
      'alone: ReplicaSet "web-1", ReplicaSet "web-2"',
      'web-1: ReplicaSet "alone"',
      'web-2: ReplicaSet "alone"',
    ]);
    await cluster.create(ReplicaSet, owned('web-3'));
    expect(told()).toEqual(['alone: ReplicaSet "web-3"', 'web-3: ReplicaSet "alone"']);
  });
});

describe('findRivals', () => {
  it('finds by index the same as a look at all of them', () => {
    const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'));
    const expressions = fc.array(
      fc.record({
        key: fc.constantFrom('a', 'b'),
        operator: fc.constantFrom('Exists', 'DoesNotExist', 'In', 'NotIn'),
        values: fc.constant<string[]>(['1']),
      }),
      { maxLength: 2 },
    );
    const drawn = fc.record({ labels, matchLabels: labels, matchExpressions: expressions });
    fc.assert(
      fc.property(fc.array(drawn, { minLength: 2, maxLength: 8 }), (all) => {
        const cluster = new FakeCluster();
        for (const [index, { labels, matchExpressions, matchLabels }] of all.entries())
          cluster.seed(Deployment, deployment(`d${index}`, labels, { matchExpressions, matchLabels }));
        const lister = indexed(cluster);
        for (const one of lister.list()) {
          const rivals = lister.list().filter((other) => selectorsOverlap(one, other));
          const found = findRivals(one, lister);
          expect(new Set(found.map(({ metadata }) => metadata.name))).toEqual(
            new Set(rivals.map(({ metadata }) => metadata.name)),
          );
        }
      }),
      { seed: 20261122, numRuns: 200 },
    );
  });
});

function indexed(cluster: FakeCluster) {
  const informer = new FakeInformers(cluster).informerFor<Deployment>(Deployment);
  informer.addIndex(SELECTOR_INDEX, selectorIndex);
  informer.addIndex(TEMPLATE_INDEX, templateIndex);
  return informer.lister;
}
