import { describe, expect, it } from 'vitest';
import { InMemoryApi } from '../../../testing/in-memory/in-memory-api.js';
import { ReconcilerRun } from '../../../testing/in-memory/run-reconciler.js';
import { StandingClock } from '../../../testing/in-memory/standing-clock.js';
import type { Deployment } from '../../../machinery/kubernetes/index.js';
import { ReplicaSet, RollkeeperDeployment } from '../../../machinery/kubernetes/index.js';
import { aDeployment, setImage } from '../../../testing/deployment-builder.js';
import { WORLD_NOW_MS } from '../../../testing/rollout-world.js';
import { createDeploymentController } from '../definition.js';
import { completeDeployment } from './deployment-api.js';

const WEB = { namespace: 'default', name: 'web' };

function aCustomDeployment(): Deployment {
  return { ...aDeployment(), apiVersion: 'rollkeeper.dev/v1' };
}

function started() {
  const api = new InMemoryApi();
  api.seed(RollkeeperDeployment, aCustomDeployment());
  const controller = createDeploymentController({ api: 'rollkeeper.dev/v1' });
  const run = new ReconcilerRun(controller, api, new StandingClock(WORLD_NOW_MS));
  const deployment = () => api.all<Deployment>(RollkeeperDeployment)[0] as Deployment;
  const replicaSets = () => api.all<ReplicaSet>(ReplicaSet);
  return { api, run, deployment, replicaSets };
}

/** Fields that a newer server, or a webhook, adds to every ReplicaSet. */
function fillIn({ api, replicaSets }: ReturnType<typeof started>): void {
  for (const replicaSet of replicaSets()) {
    const changed = structuredClone(replicaSet);
    Object.assign(changed.spec.template?.spec ?? {}, { hostUsers: false });
    api.seed(ReplicaSet, changed);
  }
}

describe('a custom Deployment', () => {
  it('knows its ReplicaSet again when the server has filled in what nobody here knows of', async () => {
    const world = started();
    await world.run.once(WEB);
    fillIn(world);
    await world.run.toRest(WEB);
    expect(world.replicaSets()).toHaveLength(1);
    expect(world.deployment().status?.collisionCount).toBeUndefined();
  });

  it('rolls out a change all the same, and back to what was there', async () => {
    const world = started();
    await world.run.once(WEB);
    fillIn(world);
    const change = async (image: string): Promise<void> => {
      const changed = structuredClone(world.deployment());
      setImage(changed, image);
      world.api.seed(RollkeeperDeployment, changed);
      await world.run.toRest(WEB);
      fillIn(world);
      await world.run.toRest(WEB);
    };
    await change('app:2');
    expect(world.replicaSets()).toHaveLength(2);
    await change('app:1');
    expect(world.replicaSets()).toHaveLength(2);
  });

  it('shows the counts that are zero, and its selector as text', async () => {
    const world = started();
    await world.run.toRest(WEB);
    expect(world.deployment().status).toMatchObject({ readyReplicas: 0, selector: 'app=web' });
  });
});

describe('a completed Deployment', () => {
  const templateOf = (spec: object) => {
    const deployment = aCustomDeployment();
    Object.assign(deployment.spec.template, { spec });
    return completeDeployment(deployment).spec.template.spec;
  };

  it('has quantities as the server writes them; what is none stays for the server to judge', () => {
    const limits = { cpu: 0.5, memory: '1024Mi', nonsense: 'many', 'example.com/gpu': 1 };
    const spec = templateOf({ containers: [{ name: 'web', resources: { limits } }] });
    expect(spec?.containers[0]?.resources?.limits).toEqual({
      cpu: '500m',
      memory: '1Gi',
      nonsense: 'many',
      'example.com/gpu': '1',
    });
  });

  it('is the same when it is completed once more', () => {
    const once = completeDeployment(aCustomDeployment());
    expect(completeDeployment(structuredClone(once))).toEqual(once);
  });
});
