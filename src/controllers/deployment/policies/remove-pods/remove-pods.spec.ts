import { describe, expect, it } from 'vitest';
import { Pod, isTerminating } from '../../../../machinery/kubernetes/index.js';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import { refusal } from '../../../../testing/rollout-world.js';
import { parseVictims, renderVictims } from './remove-pods.js';

async function scaledTo(lab: PolicyLab, replicas: number, wish: string): Promise<void> {
  lab.world.change(({ metadata, spec }) => {
    spec.replicas = replicas;
    metadata.annotations = { ...metadata.annotations, [`${P}remove-pods`]: wish };
  });
  await lab.rest();
}

const names = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name);

describe('pods that a person names when scaling down', () => {
  it('are the ones that go, ready or not, and the wish is taken away and said to be done', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 9 });
    const [first, , third, unready] = lab.world.availablePods as [Pod, Pod, Pod, Pod];
    lab.world.api.seed(Pod, { ...unready, status: { ...unready.status, conditions: [] } });
    lab.world.breaks = () => true;
    const uid = third.metadata.uid ?? '';
    await scaledTo(lab, 7, `${first.metadata.name}, ${third.metadata.name}@${uid}`);
    const left = names(lab.world.allPods);
    expect(left).toHaveLength(7);
    expect(left).not.toContain(first.metadata.name);
    expect(left).not.toContain(third.metadata.name);
    expect(left).toContain(unready.metadata.name);
    expect(lab.annotation('remove-pods')).toBeUndefined();
    expect(lab.eventsOf('NamedPodsRemoved')).toEqual([
      `Normal NamedPodsRemoved Removing ${first.metadata.name}, ${third.metadata.name}, as asked, with the change to 7 replicas`,
    ]);
  });

  it('go first where more go than are named', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
    const [, second] = lab.world.availablePods as [Pod, Pod];
    await scaledTo(lab, 2, second.metadata.name);
    expect(lab.world.allPods).toHaveLength(2);
    expect(names(lab.world.allPods)).not.toContain(second.metadata.name);
  });

  it.each<{ name: string; wish: (pods: Pod[]) => string; replicas?: number; why: string }>([
    { name: 'one that is not its own', wish: () => 'other', why: 'pod "other" is not one of its pods' },
    {
      name: 'another one of the name',
      wish: ([pod]) => `${pod?.metadata.name}@before`,
      why: 'is another one than was meant',
    },
    {
      name: 'more than the scaling removes',
      wish: (pods) => names(pods.slice(0, 3)).join(','),
      why: '3 pods of ReplicaSet',
    },
    {
      name: 'any where it scales up',
      wish: ([pod]) => pod?.metadata.name ?? '',
      replicas: 6,
      why: 'it gives up 0',
    },
    { name: 'what is no name', wish: () => 'a b', why: '"a b" is neither' },
    { name: 'nothing', wish: () => '', why: '"" is neither' },
    {
      name: 'one twice',
      wish: ([pod]) => `${pod?.metadata.name},${pod?.metadata.name}`,
      why: 'is named twice',
    },
  ])('are refused with the size that came with them: $name', async ({ replicas = 3, why, wish }) => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
    const before = names(lab.world.allPods);
    await scaledTo(lab, replicas, wish(lab.world.availablePods));
    expect(names(lab.world.allPods)).toEqual(before);
    expect(lab.deployment.spec.replicas).toBe(5);
    expect(lab.annotation('remove-pods')).toBeUndefined();
    const [event = ''] = lab.eventsOf('PodRemovalRefused');
    expect(event).toContain(why);
    expect(event).toContain(`spec.replicas is 5 again, in place of ${replicas}`);
  });

  it('are refused while the rollout is paused', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
    lab.world.change(({ spec }) => void (spec.paused = true));
    await lab.rest();
    await scaledTo(lab, 4, names(lab.world.availablePods)[0] ?? '');
    expect(lab.eventsOf('PodRemovalRefused')[0]).toContain('the rollout is paused');
    expect(lab.deployment.spec.replicas).toBe(5);
    expect(lab.world.allPods).toHaveLength(5);
  });

  it('are refused in a rollout whose other ReplicaSet shrinks', async () => {
    const lab = await PolicyLab.rolledOut({ steps: '50%; approve' }, { replicas: 6 });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 3, 'app:2': 3 });
    const pods = lab.world.podsOf(lab.replicaSet('app:2'));
    await scaledTo(lab, 5, names(pods).join(','));
    expect(lab.eventsOf('PodRemovalRefused')).toHaveLength(1);
    expect(lab.sizes).toEqual({ 'app:1': 3, 'app:2': 3 });
    expect(lab.deployment.spec.replicas).toBe(6);
  });

  it('are taken in a rollout whose ReplicaSet gives up as many', async () => {
    const lab = await PolicyLab.rolledOut({ steps: '50%; approve' }, { replicas: 6 });
    await lab.image('app:2');
    const [pod] = lab.world.podsOf(lab.replicaSet('app:2'));
    await scaledTo(lab, 4, pod?.metadata.name ?? '');
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:2': 2 });
    expect(names(lab.world.allPods)).not.toContain(pod?.metadata.name);
  });

  it('are still the ones where the process dies between two of its writes', async () => {
    for (let effect = 1; effect <= 3; effect++) {
      const lab = await PolicyLab.rolledOut({}, { replicas: 5 });
      const [pod] = lab.world.availablePods as [Pod];
      let left = effect;
      lab.world.onEffect = () => {
        if (--left === 0) throw refusal(500);
      };
      lab.world.change(({ metadata, spec }) => {
        spec.replicas = 4;
        metadata.annotations = { ...metadata.annotations, [`${P}remove-pods`]: pod.metadata.name };
      });
      await expect(lab.world.sync()).rejects.toThrow();
      await lab.world.settle();
      await lab.rest();
      expect(lab.world.allPods.filter((each) => !isTerminating(each))).toHaveLength(4);
      expect(names(lab.world.allPods), `write ${effect}`).not.toContain(pod.metadata.name);
      expect(lab.deployment.spec.replicas).toBe(4);
      expect(lab.eventsOf('NamedPodsRemoved').length).toBeGreaterThan(0);
      expect(lab.eventsOf('PodRemovalRefused')).toEqual([]);
    }
  });

  it('can be written down and read again', () => {
    const victims = [{ name: 'web-a' }, { name: 'web-b', uid: 'u-1' }];
    expect(parseVictims(renderVictims(victims))).toEqual(victims);
  });
});
