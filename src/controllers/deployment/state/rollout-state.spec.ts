import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../machinery/kubernetes/index.js';
import { failureOf, rolloutState } from './rollout-state.js';
import { BAKED, COMPLETE, FAILURE, MARKED, T0, aView, failed } from './rollout-view.fixture.js';
import { ROLLOUTS } from './rollouts.fixture.js';

describe('the phase of a rollout', () => {
  it.each(ROLLOUTS)('is $phase where $name', ({ failure, more, phase, says, shape }) => {
    const view = { ...aView(shape), ...more };
    const before = structuredClone(view);
    const state = rolloutState(view);
    expect(state).toMatchObject({ phase, message: expect.stringContaining(says) as string });
    expect(failureOf(state)).toBe(failure);
    expect(view).toEqual(before);
  });

  it('is looked at again when the bake time is over', () => {
    const view = { ...aView({ ...COMPLETE, annotations: BAKED }), nowMs: T0 + 540_000 };
    expect(rolloutState(view)).toMatchObject({ phase: 'baking', lookAgainAfterMs: 60_000 });
  });

  it('follows from the Deployment alone if nothing else may be read', () => {
    const pods: readonly Pod[] = [];
    const wentBack = { ...aView({ annotations: failed(FAILURE) }), replicaSets: [], pods };
    expect(rolloutState(wentBack).phase).toBe('rolled-back');
    const alone = { ...aView({ ...COMPLETE, annotations: MARKED }), replicaSets: [], pods };
    expect(rolloutState(alone).phase).toBe('baking');
    expect(rolloutState({ ...alone, nowMs: T0 + 630_000 }).phase).toBe('complete');
  });
});
