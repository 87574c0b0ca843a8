import { describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../../../machinery/clock/index.js';
import {
  newControllerRef,
  ConfigMap,
  Deployment,
  Pod,
  ReplicaSet,
} from '../../../machinery/kubernetes/index.js';
import type { DeepReadonly } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { FakeInformers } from '../../../testing/fake-informers.js';
import { MemoryEventRecorder } from '../../../testing/memory-event-recorder.js';
import { runController } from '../../../testing/run-controller.js';
import type { ControllerDependencies, EnqueueRequest } from '../../controller/index.js';
import { buildController } from '../../controller/index.js';
import type { ControllerBehaviour, DecidingReconciler } from './controller-spec.js';
import { workOf } from './controller-spec.js';
import { defineController } from './define-controller.js';
import { own, watch } from './watched-events.js';

const KEY = 'default/web';
const LOOK = async (): Promise<void> => {};

function seeded(): FakeCluster {
  const cluster = new FakeCluster();
  cluster.seed(Deployment, aDeployment());
  return cluster;
}

const scaleTo = (replicas: number) => ({ type: 'merge', body: { spec: { replicas } } }) as const;

describe('a controller that observes, decides and acts', () => {
  const capped = defineController({
    name: 'capped',
    for: Deployment,
    observe: (_request, { object }) => object && { deployment: object, most: 3 },
    decide: ({ deployment, most }) => {
      const replicas = deployment.spec.replicas ?? 1;
      const isTooMany = replicas > most;
      const summary = isTooMany ? `${deployment.metadata.name}: ${replicas} -> ${most}` : '';
      return {
        decision: { branch: isTooMany ? 'cap' : 'leave', summary, changes: isTooMany },
        plan: isTooMany ? { deployment, most } : undefined,
      };
    },
    act: async (plan, { client }) => {
      if (plan) await client.patch(Deployment, plan.deployment.metadata, scaleTo(plan.most));
      return { requeueAfterMs: 60_000 };
    },
  });

  it('is explained by what it decides, before it writes', async () => {
    const cluster = seeded();
    await cluster.patch(Deployment, { namespace: 'default', name: 'web' }, scaleTo(5));
    const running = runController(capped, cluster);
    await running.drain();
    expect(running.decisions.map(({ branch, summary }) => `${branch} ${summary}`.trim())).toEqual([
      'cap web: 5 -> 3',
      'leave',
    ]);
    expect(running.requeues.get(KEY)).toBe(60_000);
    expect(cluster.peek<Deployment>(Deployment, KEY)?.spec.replicas).toBe(3);
  });

  it('decides nothing where there is nothing to see', async () => {
    const running = runController(capped, new FakeCluster());
    running.add('default/gone');
    const { errors, syncs } = await running.drain();
    expect([syncs, errors.size, running.decisions]).toEqual([1, 0, []]);
  });

  it('decides again from what acting has found', async () => {
    const attempts: number[] = [];
    const controller = defineController({
      name: 'anew',
      for: Deployment,
      observe: () => 1,
      decide: (attempt) => ({
        decision: { branch: `attempt-${attempt}`, summary: '', changes: false },
        plan: attempt,
      }),
      act: async (attempt) => {
        attempts.push(attempt);
        return attempt < 3 ? { seen: attempt + 1 } : {};
      },
    });
    const running = runController(controller, seeded());
    await running.drain();
    expect(attempts).toEqual([1, 2, 3]);
    expect(running.decisions.map(({ branch }) => branch)).toEqual(['attempt-1', 'attempt-2', 'attempt-3']);
  });

  it('may be an object of a class', async () => {
    class Counting implements DecidingReconciler<Deployment, number, number> {
      private seen = 0;
      observe = (): number => ++this.seen;
      decide(seen: number) {
        return { decision: { branch: 'count', summary: `${seen}`, changes: true }, plan: seen };
      }
      async act(): Promise<void> {
        expect(this.seen).toBe(1);
      }
    }
    const controller = defineController({
      name: 'counting',
      for: Deployment,
      ...workOf(new Counting()),
    });
    const running = runController(controller, seeded());
    expect((await running.drain()).errors).toEqual(new Map());
    expect(running.decisions).toMatchObject([{ summary: '1' }]);
  });

  it.each([
    ['neither', {}],
    ['both', { reconcile: LOOK, observe: LOOK, decide: LOOK, act: LOOK }],
    ['a part of the second', { observe: LOOK, act: LOOK }],
  ])('works in one way or the other: not by %s', (_what, work) => {
    const spec = { name: 'test', for: Deployment, ...work } as never;
    expect(() => defineController(spec)).toThrow('controller.reconcile');
  });
});

describe('a controller that only reconciles', () => {
  it('is explained by what it has written', async () => {
    const cluster = seeded();
    const controller = defineController({
      name: 'writing',
      for: Deployment,
      predicates: [({ type }) => type === 'added'],
      async reconcile(_request, { client, object }) {
        if (!object) return;
        const metadata = { name: 'made', namespace: 'default' };
        await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
        await client.update(Deployment, object as Deployment, { subresource: 'status' });
      },
    });
    const running = runController(controller, cluster);
    await running.drain();
    expect(running.decisions).toMatchObject([
      {
        branch: 'reconcile',
        summary: 'create configmaps/made; update deployments/web/status',
        changes: true,
        afterwards: true,
      },
    ]);
  });

  it('is explained by what it has written before it failed, and not at all where it wrote nothing', async () => {
    const failing = defineController({
      name: 'failing',
      for: Deployment,
      async reconcile(_request, { client, object }) {
        if (object?.spec.replicas === 7) return;
        await client.patch(Deployment, { namespace: 'default', name: 'web' }, scaleTo(7));
        throw new Error('too late');
      },
    });
    const running = runController(failing, seeded());
    const { errors } = await running.drain();
    expect(errors.size).toBeLessThanOrEqual(1);
    expect(running.decisions.map(({ summary }) => summary)).toEqual(['patch deployments/web']);
  });
});

describe('a spec and its keys', () => {
  const built = (
    cluster: FakeCluster,
    behaviour: (dependencies: ControllerDependencies) => ControllerBehaviour<Deployment>,
  ) => {
    const requests: EnqueueRequest[] = [];
    const informers = new FakeInformers(cluster);
    const controller = buildController(defineController({ name: 'test', for: Deployment }, behaviour), {
      ...{ informers, discovery: cluster, clock: new FakeClock(), random: new SeededRandom(1) },
      ...{ logger: silentLogger, events: new MemoryEventRecorder() },
    });
    controller.watch((request) => void requests.push(request));
    return { controller, requests, informers };
  };
  const aReplicaSet = (owner?: DeepReadonly<Deployment>): ReplicaSet => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      ...{
        name: 'web-1',
        namespace: 'default',
        uid: 'rs-1',
        labels: aDeployment().spec.selector.matchLabels,
      },
      ownerReferences: owner ? [newControllerRef(owner)] : [],
    },
    spec: { selector: aDeployment().spec.selector, replicas: 1 },
  });

  it('how soon its own changes count, and which do not', () => {
    const cluster = seeded();
    const { requests } = built(cluster, () => ({
      urgency: ({ object, type }) =>
        type === 'added' && object.metadata.name === 'web' ? { delayMs: 70, priority: 'high' } : undefined,
      reconcile: LOOK,
    }));
    cluster.seed(Deployment, { ...aDeployment(), metadata: { ...aDeployment().metadata, name: 'other' } });
    expect(requests).toMatchObject([{ ref: { name: 'web' }, delayMs: 70, priority: 'high' }]);
  });

  it('how soon a child’s change counts for its owner, its former owner, and for those that might adopt it', async () => {
    const cluster = seeded();
    const owner = cluster.peek<Deployment>(Deployment, KEY) as Deployment;
    const { requests } = built(cluster, () => ({
      owns: [
        own<ReplicaSet, Deployment>(ReplicaSet, {
          adoptable: true,
          urgency: ({ type }, { metadata }, relation) =>
            type === 'deleted'
              ? undefined
              : { reason: 'child-change', delayMs: `${metadata.name} ${relation}`.length },
        }),
      ],
      reconcile: LOOK,
    }));
    requests.length = 0;
    const owned = cluster.seed(ReplicaSet, aReplicaSet(owner));
    const orphan = await cluster.update<ReplicaSet>(ReplicaSet, {
      ...owned,
      metadata: { ...owned.metadata, ownerReferences: [] },
    });
    await cluster.delete(ReplicaSet, orphan.metadata);
    expect(requests.map(({ delayMs }) => delayMs)).toEqual(
      ['web owner', 'web former-owner', 'web adopter'].map(({ length }) => length),
    );
  });

  it('may say that a kind may be missing, and that a sync need not have seen its changes', () => {
    const cluster = seeded();
    const asked: unknown[] = [];
    const { requests } = built(cluster, ({ informers }) => {
      const informerFor = informers.informerFor.bind(informers);
      informers.informerFor = (type, options) => {
        asked.push([type.resource, options?.optional]);
        return informerFor(type, options);
      };
      return {
        watches: [
          { ...watch(Pod, () => [{ namespace: 'default', name: 'web' }]), optional: true, mustBeSeen: false },
        ],
        reconcile: LOOK,
      };
    });
    requests.length = 0;
    cluster.seed(Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', namespace: 'default' },
      spec: { containers: [] },
    });
    expect(asked).toContainEqual(['pods', true]);
    expect(requests).toHaveLength(1);
    expect(requests[0]).not.toHaveProperty('cause');
  });

  it('selects the keys that it works on: others are neither queued, nor due, nor synced, and keep no intents', async () => {
    const cluster = seeded();
    const synced: string[] = [];
    const { controller, requests } = built(cluster, () => ({
      limit: {
        includes: (key) => key !== KEY,
        restsOn: () => [{ type: Pod, resourceVersion: '7' }],
      },
      isDue: () => true,
      needsSync: () => true,
      reconcile: async ({ key }) => void synced.push(key),
    }));
    cluster.seed(Deployment, { ...aDeployment(), metadata: { ...aDeployment().metadata, name: 'other' } });
    expect(requests).toMatchObject([
      { ref: { name: 'other' }, mustHaveSeen: [{ type: Pod, resourceVersion: '7' }] },
    ]);
    expect([...(controller.due?.() ?? [])].map(({ ref }) => ref.name)).toEqual(['other']);
    expect([KEY, 'default/other'].map((key) => controller.needsSync?.(key))).toEqual([false, true]);
    let cleared = 0;
    const intents = { current: {}, clear: () => void cleared++, store: LOOK, settledAt: () => undefined };
    const { signal } = new AbortController();
    const access = { client: cluster, signal, intents };
    for (const name of ['web', 'other'])
      await controller.sync({ key: `default/${name}`, namespace: 'default', name }, access, (decide) =>
        decide(),
      );
    expect(synced).toEqual(['default/other']);
    expect(cleared).toBe(1);
  });

  it('may name other objects than those of its kind, of which it then keeps no cache', async () => {
    const cluster = seeded();
    const seen: unknown[] = [];
    const deployment = aDeployment();
    const { controller, requests } = built(cluster, () => ({
      objectOf: (key) => (key === 'x|/y' ? deployment : undefined),
      whileLeading: (enqueue) => {
        enqueue({ ref: { namespace: 'x|', name: 'y' } });
        return () => undefined;
      },
      reconcile: async (_request, { object }) => void seen.push(object),
    }));
    expect(requests.map(({ ref }) => ref.name)).toEqual(['y']);
    const intents = { current: undefined, clear: () => undefined, store: LOOK, settledAt: () => undefined };
    const access = { client: cluster, signal: new AbortController().signal, intents };
    await controller.sync({ key: 'x|/y', namespace: 'x|', name: 'y' }, access, (decide) => decide());
    expect(seen).toEqual([deployment]);
  });
});
