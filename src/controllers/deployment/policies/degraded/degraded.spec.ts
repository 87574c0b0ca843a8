import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../machinery/kubernetes/index.js';
import { Pod as PodType } from '../../../../machinery/kubernetes/index.js';
import { MINUTE_MS, PolicyLab } from '../../../../testing/policy-lab.js';
import { stateOfStatus } from '../../state/rollout-health.js';

const TEN_MINUTES = { 'progress-after': '10m' };
const CRASHING: Pod['status'] = {
  phase: 'Running',
  containerStatuses: [
    {
      ...{ name: 'web', image: 'app:1', imageID: '', ready: false, restartCount: 4 },
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' } },
    },
  ],
};

/** A Deployment of three, one of whose pods begins to crash. */
async function withLostPod(policies: Record<string, string> = TEN_MINUTES): Promise<PolicyLab> {
  const lab = await PolicyLab.rolledOut(policies, { replicas: 3 });
  lab.world.breaks = () => true;
  const [pod] = lab.world.allPods;
  lab.world.api.seed<Pod>(PodType, { ...pod!, status: CRASHING });
  await lab.rest();
  return lab;
}

async function getBack(lab: PolicyLab): Promise<void> {
  lab.world.breaks = () => false;
  await lab.rest();
}

const SINCE =
  'Unknown AvailabilityLost Fewer pods are available than it asks for; it is degraded if that lasts for 10m';
const LOST =
  '2 of 3 pods are available, and fewer than asked for have been for longer than 10m: 1 of 3 pods: CrashLoopBackOff (back-off 5m0s)';

describe('a Deployment that loses pods after its rollout', () => {
  it('is degraded once they are missing for as long as the annotation says, with the cause [kubernetes#106054, #93933, #78678]', async () => {
    const lab = await withLostPod();
    expect(lab.condition('Degraded')).toBe(SINCE);
    expect(lab.world.requeueAfterMs).toBe(10 * MINUTE_MS);
    await lab.pass(9 * MINUTE_MS);
    expect(lab.condition('Degraded')).toBe(SINCE);
    expect(lab.world.requeueAfterMs).toBe(MINUTE_MS);
    await lab.pass(MINUTE_MS);
    expect(lab.condition('Degraded')).toBe(`True AvailabilityLost ${LOST}`);
    expect(lab.eventsOf('Degraded')).toEqual([`Warning Degraded ${LOST}`]);
    expect(stateOfStatus(lab.deployment, lab.clock.now())).toEqual({
      phase: 'progressing',
      message: `deployment "web" is degraded: ${LOST}`,
    });
  });

  it('is not any more once all of them are available', async () => {
    const lab = await withLostPod();
    await lab.pass(10 * MINUTE_MS);
    await getBack(lab);
    expect(lab.condition('Degraded')).toBe('False AvailabilityRestored 3 pods are available again');
    expect(lab.eventsOf('AvailabilityRestored')).toHaveLength(1);
    expect(lab.condition()).toContain('NewReplicaSetAvailable');
  });

  it('gets as long again if it loses them again', async () => {
    const lab = await withLostPod();
    await lab.pass(9 * MINUTE_MS);
    await getBack(lab);
    expect(lab.condition('Degraded')).toBe('none');
    lab.world.breaks = () => true;
    lab.world.api.seed<Pod>(PodType, { ...lab.world.allPods[0]!, status: CRASHING });
    await lab.pass(9 * MINUTE_MS);
    expect(lab.condition('Degraded')).toBe(SINCE);
    expect(lab.eventsOf('Degraded')).toEqual([]);
  });

  it('writes nothing while only time passes, or only the cause changes', async () => {
    const lab = await withLostPod();
    await lab.pass(10 * MINUTE_MS);
    const before = lab.world.api.changes;
    lab.world.api.seed<Pod>(PodType, { ...lab.world.allPods[0]!, status: { phase: 'Running' } });
    const seeded = lab.world.api.changes;
    await lab.pass(MINUTE_MS);
    expect([before + 1, lab.world.api.changes]).toEqual([seeded, seeded]);
  });

  it('has no such condition without the annotation, and loses it with the annotation', async () => {
    expect((await withLostPod({})).condition('Degraded')).toBe('none');
    const lab = await withLostPod();
    await lab.pass(10 * MINUTE_MS);
    await lab.annotate('progress-after', undefined);
    expect(lab.condition('Degraded')).toBe('none');
  });

  it('is degraded as well if it is scaled up, and the new pods never come', async () => {
    const lab = await PolicyLab.rolledOut(TEN_MINUTES, { replicas: 0 });
    lab.world.breaks = () => true;
    await lab.scale(1);
    await lab.pass(10 * MINUTE_MS);
    await lab.pass(10 * MINUTE_MS);
    expect(lab.condition('Degraded')).toContain('True AvailabilityLost 0 of 1 pod is available, and');
  });
});

it('a rollout that is not over has its own deadline', async () => {
  const lab = await PolicyLab.rolledOut(TEN_MINUTES, { replicas: 3 });
  lab.world.breaks = (image) => image === 'app:2';
  await lab.image('app:2');
  await lab.pass(20 * MINUTE_MS);
  expect(lab.condition('Degraded')).toBe('none');
  expect(lab.condition()).toContain('ProgressDeadlineExceeded');
});

it.each(['10', 'soon', '0s', '-5m'])('%j is no such time', async (value) => {
  const lab = await PolicyLab.rolledOut({ 'progress-after': value }, { replicas: 1 });
  expect(lab.condition('RolloutPolicy')).toContain('progress-after');
});
