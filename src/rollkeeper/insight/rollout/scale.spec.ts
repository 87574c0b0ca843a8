import { describe, expect, it } from 'vitest';
import { Deployment, Pod, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { ApiStatusError } from '../../../client/api-client/api-status-error.js';
import { P, PolicyLab } from '../../../testing/policy-lab.js';
import { MovedClock } from '../../../testing/moved-clock.js';
import { readFirstToGo } from '../../../controllers/shared/index.js';
import type { ScaleContext, ScaleRequest } from './scale.js';
import { decideReplicaSetScaling, scaleDeployment, scaleReplicaSet } from './scale.js';

/** While it waits, the controllers work. */
class WorkingClock extends MovedClock {
  constructor(private readonly work: () => Promise<void>) {
    super(Date.UTC(2026, 0, 1, 12));
  }

  override async sleep(): Promise<void> {
    this.move(200);
    await this.work();
  }
}

const ref = { namespace: 'default', name: 'web' };

function contextOf(lab: PolicyLab, work = () => lab.rest()): ScaleContext {
  const { signal } = new AbortController();
  return { client: lab.world.api, clock: new WorkingClock(work), signal };
}

function ask(replicas: number, remove: readonly string[], more: Partial<ScaleRequest> = {}): ScaleRequest {
  return { replicas, remove, isDryRun: false, timeoutMs: 5000, ...more };
}

const nameOf = ({ metadata }: Pod): string => metadata.name;

describe('rollkeeper scale', () => {
  it('scales a Deployment, and the named pods are the ones that have gone', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
    const [first = '', , third = ''] = lab.world.availablePods.map(nameOf);
    const end = await scaleDeployment(Deployment, ref, ask(3, [first, third]), contextOf(lab));
    expect(end).toEqual({
      outcome: 'done',
      message: `deployments.apps/web scaled from 5 to 3, without ${first}, ${third}`,
    });
    const left = lab.world.allPods.map(nameOf);
    expect(left).toHaveLength(3);
    expect(left).not.toContain(first);
    expect(left).not.toContain(third);
  });

  it('refuses what the controller would refuse, and writes nothing', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
    const names = lab.world.availablePods.map(nameOf);
    const writes = lab.world.api.writes.length;
    for (const [remove, why] of [
      [['other'], 'pod "other" is not one of its pods'],
      [names.slice(0, 3), '3 pods of ReplicaSet'],
      [[names[0] ?? '', names[0] ?? ''], 'is named twice'],
    ] as const) {
      const end = await scaleDeployment(Deployment, ref, ask(3, remove), contextOf(lab));
      expect(end.outcome).toBe('refused');
      expect(end.message).toContain(why);
    }
    expect(lab.world.api.writes.length).toBe(writes);
  });

  it('only says what it would do in a dry run', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
    const [first = ''] = lab.world.availablePods.map(nameOf);
    const request = ask(4, [first], { isDryRun: true });
    const end = await scaleDeployment(Deployment, ref, request, contextOf(lab));
    expect(end.message).toBe(`deployments.apps/web would be scaled from 5 to 4, without ${first}`);
    expect(lab.deployment.spec.replicas).toBe(5);
  });

  it('decides again where something was written in between, and refuses then what does not hold any more', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
    const [first = ''] = lab.world.availablePods.map(nameOf);
    const { api } = lab.world;
    const context = contextOf(lab);
    let isFirst = true;
    const client = new Proxy(api, {
      get: (target, property, receiver) => {
        if (property !== 'patch' || !isFirst) return Reflect.get(target, property, receiver) as unknown;
        isFirst = false;
        return async () => {
          await api.delete(Pod, { namespace: 'default', name: first });
          throw new ApiStatusError({ code: 409, reason: 'Conflict' });
        };
      },
    });
    const end = await scaleDeployment(Deployment, ref, ask(4, [first]), { ...context, client });
    expect(end).toMatchObject({ outcome: 'refused' });
    expect(lab.deployment.spec.replicas).toBe(5);
  });

  it('says where no controller answers in time', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
    const [first = ''] = lab.world.availablePods.map(nameOf);
    const end = await scaleDeployment(
      Deployment,
      ref,
      ask(4, [first]),
      contextOf(lab, async () => undefined),
    );
    expect(end.outcome).toBe('timed-out');
  });

  it('says where the controller has refused', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
    const [first = ''] = lab.world.availablePods.map(nameOf);
    const work = async (): Promise<void> => {
      const pod = lab.world.allPods.find((each) => nameOf(each) === first);
      if (pod) await lab.world.api.delete(Pod, pod.metadata);
      await lab.rest();
    };
    const end = await scaleDeployment(Deployment, ref, ask(4, [first]), contextOf(lab, work));
    expect(end).toMatchObject({ outcome: 'refused' });
    expect(end.message).toContain('it has 5 replicas');
    expect(lab.eventsOf('PodRemovalRefused')).toHaveLength(1);
  });

  it('scales a ReplicaSet of its own, and leaves one of a Deployment to that', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
    const [owned] = lab.world.replicaSets;
    if (!owned) throw new Error('no ReplicaSet');
    const setRef = { namespace: 'default', name: owned.metadata.name };
    const [first = ''] = lab.world.availablePods.map(nameOf);
    const end = await scaleReplicaSet(setRef, ask(4, [first]), contextOf(lab));
    expect(end.message).toContain('is left as it is: its size is for Deployment "web" to say');
    const { ownerReferences: _owners, ...metadata } = owned.metadata;
    lab.world.api.seed<ReplicaSet>(ReplicaSet, { ...owned, metadata });
    const work = async (): Promise<void> => {
      for (const set of lab.world.replicaSets) await lab.world.syncReplicaSet(set);
    };
    const done = await scaleReplicaSet(setRef, ask(4, [first]), contextOf(lab, work));
    expect(done).toEqual({
      outcome: 'done',
      message: `replicasets.apps/${owned.metadata.name} scaled from 5 to 4, without ${first}`,
    });
    const [set] = lab.world.replicaSets;
    expect(set && readFirstToGo(set, 4)).toMatchObject({
      beforeUnready: true,
      pods: { [first]: expect.any(String) },
    });
  });

  it('refuses more names than a ReplicaSet gives up', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 3 });
    const [owned] = lab.world.replicaSets;
    if (!owned) throw new Error('no ReplicaSet');
    const own = { ...owned, metadata: { ...owned.metadata, ownerReferences: [] } };
    const remove = lab.world.allPods.slice(0, 2).map(nameOf);
    expect(decideReplicaSetScaling(own, lab.world.allPods, { replicas: 2, remove })).toEqual({
      refused: '2 pods are named, and it gives up 1',
    });
    expect(lab.annotation(`${P}remove-pods`)).toBeUndefined();
  });
});
