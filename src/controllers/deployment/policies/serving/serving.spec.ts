import { describe, expect, it } from 'vitest';
import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { PolicyLab } from '../../../../testing/policy-lab.js';
import { Service } from '../../../../runtime/index.js';
import { servingPods } from '../../../shared/index.js';
import { createDeploymentController } from '../../definition.js';

const BLUE_GREEN = { strategy: 'blue-green', 'active-service': 'web' };
const WHOLE: DeploymentShape = {
  replicas: 4,
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } },
};

async function running(): Promise<PolicyLab> {
  return PolicyLab.rolledOut(BLUE_GREEN, WHOLE, {
    controller: createDeploymentController({ blueGreen: true }),
    prepare: ({ world }) => {
      const metadata = { namespace: 'default', name: 'web', uid: 'uid-of-web' };
      const spec = { selector: { app: 'web' } };
      world.api.seed<Service>(Service, { apiVersion: 'v1', kind: 'Service', metadata, spec });
    },
  });
}

/** The images of the pods that an autoscaler counts. */
function counted({ world }: PolicyLab): (string | undefined)[] {
  const setOf = (name: string) => world.replicaSets.find(({ metadata }) => metadata.name === name);
  return servingPods(world.allPods, setOf).map(({ spec }) => spec.containers[0]?.image);
}

describe('an autoscaler', () => {
  it('counts the pods of the version that serves, while another one runs whole beside it [argo-rollouts#2857, keda#6058]', async () => {
    const lab = await running();
    expect(counted(lab)).toEqual(Array(4).fill('app:1'));
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(counted(lab), 'before the Service moves').toEqual(Array(4).fill('app:1'));
    await lab.annotate('approve', 'jane');
    expect(lab.sizes, 'for the scale-down delay').toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(counted(lab), 'after it').toEqual(Array(4).fill('app:2'));
    await lab.pass(60_000);
    expect(counted(lab)).toEqual(Array(4).fill('app:2'));
  });

  it('counts the pods of all versions of a rolling update, as in Kubernetes', async () => {
    const lab = await PolicyLab.rolledOut({ steps: '50%; approve' }, { replicas: 4 });
    await lab.image('app:2');
    expect(counted(lab).toSorted()).toEqual(['app:1', 'app:1', 'app:2', 'app:2']);
    for (const { metadata } of lab.world.replicaSets)
      expect(metadata.annotations).not.toHaveProperty('rollkeeper.dev/requests');
  });

  it('counts all pods if none would be left', async () => {
    const lab = await running();
    const none = { 'rollkeeper.dev/requests': 'none' };
    const marked = (name: string) => {
      const set = lab.world.replicaSets.find(({ metadata }) => metadata.name === name);
      return set && { ...set, metadata: { ...set.metadata, annotations: none } };
    };
    expect(servingPods(lab.world.allPods, marked)).toHaveLength(4);
    expect(servingPods(lab.world.allPods, () => undefined)).toHaveLength(4);
  });
});

describe('an aborted version, while an autoscaler raises the size 120 times and a person zeroes it 122 times', () => {
  it('gets no pod, and the version that serves follows each of them once [argo-rollouts#4973]', async () => {
    const lab = await PolicyLab.rolledOut(
      { steps: '20%; approve', 'on-failure': 'rollback', autoscaling: 'floor' },
      { replicas: 5 },
    );
    await lab.image('app:2');
    await lab.annotate('abort', 'jane');
    const name = lab.replicaSet('app:1').metadata.name;
    const before = lab.eventsOf('ScalingReplicaSet').length;
    const changes = Array.from({ length: 242 }, (_, index) => (index % 2 === 0 || index > 239 ? 0 : 5));
    for (const replicas of changes) {
      await lab.scale(replicas);
      expect(lab.sizes).toEqual(replicas === 0 ? {} : { 'app:1': 5 });
    }
    const scaled = lab.eventsOf('ScalingReplicaSet').slice(before);
    expect(scaled.every((event) => event.includes(name))).toBe(true);
    const effective = changes.filter((size, index) => size !== (changes[index - 1] ?? 5)).length;
    expect(scaled).toHaveLength(effective);
  });
});
