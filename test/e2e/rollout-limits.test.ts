import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment, Pod, controllerOf } from '../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../../src/testing/rollout-history.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { anyKubectl } from './support/kubectl.js';
import { Rollouts } from './support/rollouts.js';
import { SharedUp } from './support/shared-up.js';

const namespace = 'limits';

describe('the limits of a rollout, seen from outside at every change', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let history: RolloutHistory;
  let rollouts: Rollouts;

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    client = await up.client();
    await up.createNamespace(client, namespace);
    rollouts = new Rollouts(client, namespace);
    history = new RolloutHistory(client, namespace);
    await history.start();
  });

  afterAll(async () => {
    await history.stop();
    await client.close();
    await up.give();
  });

  const sizesOf = (events: readonly HistoryEvent[], deployment: string, oldReplicaSet: string): string[] => {
    const sizes = new Map<string, number>();
    return events
      .filter(({ kind, object }) => kind === 'ReplicaSet' && controllerOf(object)?.name === deployment)
      .map(({ object }) => {
        sizes.set(object.metadata.name, (object as { spec?: { replicas?: number } }).spec?.replicas ?? 0);
        const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
        const old = sizes.get(oldReplicaSet) ?? 0;
        return `${old}+${all - old}`;
      })
      .filter((step, index, steps) => step !== steps[index - 1]);
  };

  it('takes the classic ten pods through 8 old and at most 5 new, never above 13, never below 8 available', async () => {
    await client.create(
      Deployment,
      aDeployment({ namespace, name: 'classic', replicas: 10, minReadySeconds: 1 }),
    );
    await rollouts.rolledOut('classic');
    const oldReplicaSet =
      history
        .events()
        .find(({ kind, object }) => kind === 'ReplicaSet' && controllerOf(object)?.name === 'classic')?.object
        .metadata.name ?? '';
    await rollouts.setImage('classic', 'web:2');
    await rollouts.rolledOut('classic');

    const steps = sizesOf(history.events(), 'classic', oldReplicaSet);
    // As everybody knows them from `kubectl get rs -w`: new to 3, old to 8, new to 5.
    expect(steps.slice(0, 4)).toEqual(['10+0', '10+3', '8+3', '8+5']);
    expect(steps.at(-1)).toBe('0+10');
    expect(findViolations(history.events())).toEqual([]);
  });

  it('never runs old and new pods of a Recreate Deployment together', async () => {
    await client.create(
      Deployment,
      aDeployment({ namespace, name: 'recreate', replicas: 5, strategy: { type: 'Recreate' } }),
    );
    await rollouts.rolledOut('recreate');
    await rollouts.setImage('recreate', 'web:2');
    await rollouts.rolledOut('recreate');

    const alive = new Map<string, string>();
    for (const { deleted, kind, object } of history.events()) {
      if (kind !== 'Pod' || !object.metadata.name.startsWith('recreate-')) continue;
      const { uid = '' } = object.metadata;
      if (deleted) alive.delete(uid);
      else alive.set(uid, (object as Pod).spec.containers[0]?.image ?? '');
      expect(new Set(alive.values()).size).toBeLessThanOrEqual(1);
    }
    expect(alive.size).toBe(5);
  });

  it('stops at the limits when the new pods never become ready, says so, and is healed by undo', async () => {
    await client.create(
      Deployment,
      aDeployment({ namespace, name: 'stuck', replicas: 10, progressDeadlineSeconds: 2 }),
    );
    await rollouts.rolledOut('stuck');
    await rollouts.setImage('stuck', 'web:never-ready');
    const stuck = await waitFor(
      async () => {
        const deployment = await rollouts.read('stuck');
        const progressing = deployment.status?.conditions?.find(({ type }) => type === 'Progressing');
        return progressing?.reason === 'ProgressDeadlineExceeded' && deployment;
      },
      { what: 'the deadline to be reported' },
    );
    expect(stuck.status).toMatchObject({ replicas: 13, updatedReplicas: 5, availableReplicas: 8 });

    const kubectl = anyKubectl();
    if (kubectl) {
      const inNamespace = (...args: string[]) => up.kubectl(kubectl.binary, ['-n', namespace, ...args]);
      const status = await inNamespace('rollout', 'status', 'deployment/stuck');
      expect(status).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('exceeded its progress deadline'),
      });
      expect((await inNamespace('rollout', 'undo', 'deployment/stuck')).code).toBe(0);
    } else {
      await rollouts.setImage('stuck', 'web:1');
    }
    const healed = await rollouts.rolledOut('stuck');
    expect(healed.spec.template.spec?.containers[0]?.image).toBe('web:1');
    expect(findViolations(history.events())).toEqual([]);
    const { items } = await client.list<Pod>(Pod, { namespace, labelSelector: 'app=stuck' });
    expect(items.filter(({ metadata }) => !metadata.deletionTimestamp)).toHaveLength(10);
  });
});
