import { describe, expect, it } from 'vitest';
import { InMemoryApi } from '../../testing/in-memory/in-memory-api.js';
import { ReconcilerRun } from '../../testing/in-memory/run-reconciler.js';
import { StandingClock } from '../../testing/in-memory/standing-clock.js';
import { ApiStatusError } from '../../client/api-client/api-status-error.js';
import { TerminalError } from '../../machinery/errors/index.js';
import type { KubernetesObject, ResourceType } from '../../machinery/kubernetes/index.js';
import { Deployment, Pod, ReplicaSet, newControllerRef } from '../../machinery/kubernetes/index.js';
import { aDeployment } from '../../testing/deployment-builder.js';
import { WORLD_NOW_MS } from '../../testing/rollout-world.js';
import { deploymentController } from './definition.js';
import { podTemplateHash } from './kubernetes/pod-template.js';

const WEB = { namespace: 'default', name: 'web' };

function alone(deployment: Deployment, api = new InMemoryApi()): { api: InMemoryApi; run: ReconcilerRun } {
  api.seed(Deployment, deployment);
  return { api, run: new ReconcilerRun(deploymentController, api, new StandingClock(WORLD_NOW_MS)) };
}

function anOrphan(): ReplicaSet {
  const { selector, template } = aDeployment().spec;
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'web-orphan',
      namespace: 'default',
      uid: 'orphan',
      labels: { app: 'web' },
      generation: 1,
    },
    spec: { replicas: 0, selector, template },
    status: { replicas: 0, observedGeneration: 1 },
  };
}

describe('a Recreate whose cache of pods is behind', () => {
  it('asks the API whether the last old pod has ended', async () => {
    class StalePods extends InMemoryApi {
      override all<T extends KubernetesObject>(type: ResourceType): T[] {
        return type === Pod ? [] : super.all<T>(type);
      }
    }
    const deployment = aDeployment({ strategy: { type: 'Recreate' } });
    const { api, run } = alone(deployment, new StalePods());
    const old = anOrphan();
    old.metadata.ownerReferences = [newControllerRef(deployment)];
    old.spec.template = aDeployment({ image: 'app:0' }).spec.template;
    api.seed(ReplicaSet, old);
    const pod = api.seed<Pod>(Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'old',
        namespace: 'default',
        labels: { app: 'web' },
        ownerReferences: [newControllerRef(old)],
      },
      spec: { containers: [] },
    });
    await expect(run.once(WEB)).rejects.toThrow('old pod old still runs');
    expect(api.writes).toEqual([]);
    await api.delete(Pod, pod.metadata);
    await run.once(WEB);
    expect(
      api
        .all<ReplicaSet>(ReplicaSet)
        .map(({ spec }) => spec.replicas)
        .sort(),
    ).toEqual([0, 10]);
  });
});

describe('obstacles', () => {
  it('an empty selector gets a warning, the generation observed, and nothing else', async () => {
    const { api, run } = alone(aDeployment({ spec: { selector: {} } }));
    await run.once(WEB);
    await run.once(WEB);
    expect(api.writes).toHaveLength(1);
    expect(api.all<Deployment>(Deployment)[0]?.status).toEqual({ observedGeneration: 1 });
    expect(run.notes[0]).toMatchObject({ type: 'Warning', reason: 'SelectingAll' });
  });

  it.each<[string, Partial<Deployment['spec']>]>([
    ['a limit that is no percentage', { strategy: { rollingUpdate: { maxSurge: 'many' } } }],
    ['an operator that does not exist', { selector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } }],
    ['a negative size', { replicas: -1 }],
  ])('%s gets a warning and no retry', async (_name, spec) => {
    const { api, run } = alone(aDeployment({ spec }));
    await expect(run.once(WEB)).rejects.toThrow(TerminalError);
    expect(api.writes).toEqual([]);
    expect(run.notes[0]).toMatchObject({ type: 'Warning', reason: 'InvalidDeployment' });
  });

  it('a taken name is counted as a collision, and another one is chosen', async () => {
    const deployment = aDeployment();
    const { api, run } = alone(deployment);
    const name = `web-${podTemplateHash(deployment.spec.template)}`;
    const selector = { matchLabels: { app: 'other' } };
    api.seed<ReplicaSet>(ReplicaSet, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name, namespace: 'default', uid: 'theirs', labels: { app: 'other' } },
      spec: { selector, replicas: 1, template: {} },
    });
    await run.toRest(WEB);
    expect(api.all<Deployment>(Deployment)[0]?.status?.collisionCount).toBe(1);
    expect(api.all(ReplicaSet).map(({ metadata }) => metadata.name)).toHaveLength(2);
  });

  it('names that are taken again and again are reported, and make the pass fail, so that it is tried more rarely', async () => {
    const everyNameIsTaken: InMemoryApi = new InMemoryApi(({ verb, type, ref }) => {
      const theirs = { app: 'other' };
      if (verb === 'create' && type === ReplicaSet) {
        everyNameIsTaken.seed<ReplicaSet>(ReplicaSet, {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          metadata: { ...ref, uid: ref.name, labels: theirs },
          spec: { selector: { matchLabels: theirs }, replicas: 0, template: {} },
        });
      }
    });
    const { api, run } = alone(aDeployment(), everyNameIsTaken);
    await run.once(WEB);
    expect(run.notes).toEqual([]);
    for (let collisions = 2; collisions < 5; collisions++) {
      await expect(run.once(WEB)).rejects.toThrow(/that is not its own has the name/);
      const [deployment] = api.all<Deployment>(Deployment);
      expect(deployment?.status).toMatchObject({
        collisionCount: collisions,
        conditions: [{ type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError' }],
      });
    }
    expect(run.notes).toHaveLength(3);
  });

  it('a new ReplicaSet that the cache does not show yet is not created twice, and is no collision', async () => {
    class StaleCache extends InMemoryApi {
      override all<T extends KubernetesObject>(type: ResourceType): T[] {
        return type === ReplicaSet ? [] : super.all<T>(type);
      }
    }
    const { api, run } = alone(aDeployment(), new StaleCache());
    await run.once(WEB);
    await run.once(WEB);
    const creations = api.writes.filter(({ verb }) => verb === 'create');
    expect(creations).toHaveLength(1);
    expect(run.notes).toHaveLength(1);
    expect((await api.get<Deployment>(Deployment, WEB)).status?.collisionCount).toBeUndefined();
  });

  it('a namespace that is going away ends the sync quietly', async () => {
    const details = { causes: [{ reason: 'NamespaceTerminating' }] };
    const api = new InMemoryApi(() => {
      throw new ApiStatusError({ code: 403, reason: 'Forbidden', details });
    });
    const { run } = alone(aDeployment(), api);
    await expect(run.once(WEB)).resolves.toEqual({});
    expect(run.notes).toEqual([]);
  });

  it('a ReplicaSet that cannot be created is reported in the status and by an event, and tried again', async () => {
    const api = new InMemoryApi(({ verb }) => {
      if (verb === 'create')
        throw new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'exceeded quota' });
    });
    const { run } = alone(aDeployment(), api);
    await expect(run.once(WEB)).rejects.toThrow('exceeded quota');
    const [deployment] = api.all<Deployment>(Deployment);
    expect(deployment?.status?.conditions?.[0]).toMatchObject({
      status: 'False',
      reason: 'ReplicaSetCreateError',
    });
    expect(run.notes[0]).toMatchObject({ type: 'Warning', reason: 'ReplicaSetCreateError' });
  });
});

describe('adoption', () => {
  it('is rechecked past the cache: a Deployment that is being deleted takes nothing back', async () => {
    class DeletedMeanwhile extends InMemoryApi {
      override async get<T>(): Promise<T> {
        const deployment = aDeployment();
        deployment.metadata.deletionTimestamp = '2026-01-01T12:00:00Z';
        return deployment as T;
      }
    }
    const api = new DeletedMeanwhile();
    const { run } = alone(aDeployment(), api);
    api.seed(ReplicaSet, anOrphan());
    await expect(run.once(WEB)).rejects.toThrow('has just been deleted');
    expect(api.writes).toEqual([]);
  });

  it('is part of the one write that the ReplicaSet gets', async () => {
    const deployment = aDeployment();
    const { api, run } = alone(deployment);
    api.seed(ReplicaSet, anOrphan());
    await run.once(WEB);
    const [adopted] = api.all<ReplicaSet>(ReplicaSet);
    expect(adopted?.metadata.ownerReferences).toEqual([newControllerRef(deployment)]);
    expect(adopted?.spec.replicas).toBe(10);
    expect(api.writes.filter(({ type }) => type === ReplicaSet)).toHaveLength(1);
  });
});
