import { describe, expect, it } from 'vitest';
import { Pod } from '../../machinery/kubernetes/index.js';
import { ReplicaSetHarness } from '../../testing/replicaset-harness.js';

describe('labels and annotations beside the template', () => {
  const MARKS = 'rollkeeper.dev/pod-marks';
  const noted = (labels: Record<string, string | null>): Record<string, string> => ({
    [MARKS]: JSON.stringify({ labels, annotations: { note: 'new' } }),
  });
  const labelsOf = ({ activePods }: ReplicaSetHarness) => activePods.map(({ metadata }) => metadata.labels);

  it('are changed on live pods, none of which restarts, and new pods have them at once', async () => {
    const harness = new ReplicaSetHarness(2);
    await harness.settle();
    const uids = harness.activePods.map(({ metadata }) => metadata.uid);
    await harness.scale(2, noted({ role: 'canary' }));
    await harness.settle();
    expect(harness.activePods.map(({ metadata }) => metadata.uid)).toEqual(uids);
    expect(labelsOf(harness)).toEqual([
      { app: 'web', role: 'canary' },
      { app: 'web', role: 'canary' },
    ]);
    expect(harness.activePods[0]?.metadata.annotations).toEqual({ note: 'new' });
    expect(harness.events.lines).toContain(
      'Normal PodsMarked Changed labels or annotations of 2 pods in place',
    );
    const patches = harness.cluster.count('patch', Pod);
    await harness.scale(3);
    await harness.settle();
    expect(labelsOf(harness).every((labels) => labels?.['role'] === 'canary')).toBe(true);
    expect(harness.cluster.count('patch', Pod)).toBe(patches);
  });

  it('go back to what the template says, or go', async () => {
    const harness = new ReplicaSetHarness(1);
    await harness.settle();
    await harness.scale(1, noted({ role: 'canary' }));
    await harness.settle();
    await harness.scale(1, noted({ role: null }));
    await harness.settle();
    expect(labelsOf(harness)).toEqual([{ app: 'web' }]);
  });

  it('never change what the selector looks at, and nothing that cannot be read', async () => {
    const harness = new ReplicaSetHarness(1);
    await harness.settle();
    await harness.scale(1, noted({ app: 'other', 'bad key': 'x', role: 'no/value' }));
    await harness.settle();
    expect(labelsOf(harness)).toEqual([{ app: 'web' }]);
    await harness.scale(1, { [MARKS]: '{' });
    await harness.settle();
    expect(labelsOf(harness)).toEqual([{ app: 'web' }]);
  });

  it('are carried on by the next process if this one is killed between two pods', async () => {
    const harness = new ReplicaSetHarness(3);
    await harness.settle();
    await harness.scale(3, noted({ role: 'canary' }));
    harness.catchUp();
    await harness.activate({ effect: 1, fault: 'killed-after' });
    await harness.settle();
    expect(labelsOf(harness).every((labels) => labels?.['role'] === 'canary')).toBe(true);
    expect(harness.activePods).toHaveLength(3);
  });
});
