import { describe, expect, it } from 'vitest';
import type { Pod } from '../../machinery/kubernetes/index.js';
import { decideRolloutEnd } from './decide-rollout-end.js';
import { BAKED, COMPLETE, FAILURE, MARKED, ROLLOUTS, T0, aView, failed } from './rollouts.fixture.js';

describe('the phase of a rollout', () => {
  it.each(ROLLOUTS)('is $phase where $name', ({ failure, more, phase, says, shape }) => {
    const view = { ...aView(shape), ...more };
    const before = structuredClone(view);
    const position = decideRolloutEnd(view);
    expect(position).toMatchObject({ phase, message: expect.stringContaining(says) as string });
    expect(position.failure).toBe(failure);
    expect(view).toEqual(before);
  });

  it('is looked at again when the bake time is over', () => {
    const view = { ...aView({ ...COMPLETE, annotations: BAKED }), nowMs: T0 + 540_000 };
    expect(decideRolloutEnd(view).lookAgainAfterMs).toBe(60_000);
  });

  it('is told from the Deployment alone where nothing else may be read', () => {
    const pods: readonly Pod[] = [];
    const wentBack = { ...aView({ annotations: failed(FAILURE) }), replicaSets: [], pods };
    expect(decideRolloutEnd(wentBack).phase).toBe('rolled-back');
    const alone = { ...aView({ ...COMPLETE, annotations: MARKED }), replicaSets: [], pods };
    expect(decideRolloutEnd(alone).phase).toBe('baking');
    expect(decideRolloutEnd({ ...alone, nowMs: T0 + 630_000 }).phase).toBe('complete');
  });
});
