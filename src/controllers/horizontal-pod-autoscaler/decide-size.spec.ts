import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import type { Bounds, History, Stamped } from './decide-size.js';
import { decideSize, remember } from './decide-size.js';

const clock = new FakeClock();
const secondsAgo = (seconds: number, replicas: number): Stamped => ({
  replicas,
  atMs: clock.now() - seconds * 1000,
});
const policy = (type: string, value: number, periodSeconds = 60) => ({ type, value, periodSeconds });

const BOUNDS: Bounds = { minReplicas: 2, maxReplicas: 20 };
/** The API's defaults for an empty behaviour. */
const UP = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [policy('Pods', 4, 15), policy('Percent', 100, 15)],
};
const DOWN = { selectPolicy: 'Max', policies: [policy('Percent', 100, 15)] };

function decide(
  [current, wanted]: readonly [number, number],
  behavior?: Bounds['behavior'],
  history: Partial<History> = {},
) {
  const bounds = { ...BOUNDS, ...(behavior && { behavior }) };
  return decideSize(wanted, current, bounds, { recommendations: [], changes: [], ...history }, clock.now());
}

describe('the size', () => {
  it.each([
    { name: 'is what the metrics ask for', from: [4, 6], to: 6, limit: 'DesiredWithinRange' },
    { name: 'is not below the least', from: [4, 1], to: 2, limit: 'TooFewReplicas' },
    { name: 'is not above the greatest', from: [15, 25], to: 20, limit: 'TooManyReplicas' },
    { name: 'at most doubles', from: [5, 19], to: 10, limit: 'ScaleUpLimit' },
    { name: 'may always reach four', from: [1, 9], to: 4, limit: 'ScaleUpLimit' },
  ] as const)('$name', ({ from, limit, to }) => {
    const { limited, replicas } = decide(from);
    expect({ replicas, reason: limited.reason }).toEqual({ replicas: to, reason: limit });
    expect(limited.isLimited).toBe(limit !== 'DesiredWithinRange');
  });

  it('falls only when nothing has asked for more during five minutes', () => {
    const held = decide([6, 3], undefined, { recommendations: [secondsAgo(299, 5)] });
    expect(held).toMatchObject({ replicas: 5, ableToScale: { reason: 'ScaleDownStabilized' } });
    const free = decide([6, 3], undefined, { recommendations: [secondsAgo(300, 5)] });
    expect(free).toMatchObject({ replicas: 3, ableToScale: { reason: 'ReadyForNewScale' } });
  });
});

describe('the size with a behaviour', () => {
  it.each([
    { name: 'by default adds four, or doubles', from: [3, 20], behavior: {}, to: 7, limit: 'ScaleUpLimit' },
    { name: 'doubles, where that is more', from: [8, 20], behavior: {}, to: 16, limit: 'ScaleUpLimit' },
    {
      name: 'grows by the smaller policy where that shall count',
      from: [8, 20],
      behavior: { scaleUp: { ...UP, selectPolicy: 'Min' } },
      to: 12,
      limit: 'ScaleUpLimit',
    },
    {
      name: 'does not grow where growing is disabled',
      from: [8, 20],
      behavior: { scaleUp: { ...UP, selectPolicy: 'Disabled' } },
      to: 8,
      limit: 'ScaleUpLimit',
    },
    {
      name: 'shrinks by so many pods a period',
      from: [10, 2],
      behavior: { scaleDown: { ...DOWN, policies: [policy('Pods', 3)] } },
      to: 7,
      limit: 'ScaleDownLimit',
    },
    {
      name: 'shrinks by the greater of two policies',
      from: [10, 2],
      behavior: { scaleDown: { ...DOWN, policies: [policy('Pods', 3), policy('Percent', 50)] } },
      to: 5,
      limit: 'ScaleDownLimit',
    },
    {
      name: 'shrinks by the smaller one where that shall count',
      from: [10, 2],
      behavior: {
        scaleDown: { ...DOWN, selectPolicy: 'Min', policies: [policy('Pods', 3), policy('Percent', 50)] },
      },
      to: 7,
      limit: 'ScaleDownLimit',
    },
    {
      name: 'does not shrink where shrinking is disabled',
      from: [10, 2],
      behavior: { scaleDown: { ...DOWN, selectPolicy: 'Disabled' } },
      to: 10,
      limit: 'ScaleDownLimit',
    },
    { name: 'is not below the least', from: [4, 1], behavior: {}, to: 2, limit: 'TooFewReplicas' },
    { name: 'is not above the greatest', from: [19, 25], behavior: {}, to: 20, limit: 'TooManyReplicas' },
    {
      name: 'stays where nothing shall change',
      from: [4, 4],
      behavior: {},
      to: 4,
      limit: 'DesiredWithinRange',
    },
  ] as const)('$name', ({ behavior, from, limit, to }) => {
    const { limited, replicas } = decide(from, { scaleUp: UP, scaleDown: DOWN, ...behavior });
    expect({ replicas, reason: limited.reason }).toEqual({ replicas: to, reason: limit });
  });

  it('counts what was changed within the period already', () => {
    const scaleDown = { ...DOWN, policies: [policy('Pods', 3)] };
    const behavior = { scaleUp: UP, scaleDown } as never;
    expect(decide([8, 2], behavior, { changes: [secondsAgo(59, -2)] })).toMatchObject({ replicas: 7 });
    expect(decide([8, 2], behavior, { changes: [secondsAgo(60, -2)] })).toMatchObject({ replicas: 5 });
    expect(decide([8, 2], behavior, { changes: [secondsAgo(59, -5)] })).toMatchObject({ replicas: 8 });
  });

  it('grows only when nothing has asked for less during its window', () => {
    const scaleUp = { ...UP, stabilizationWindowSeconds: 60 };
    const behavior = { scaleUp, scaleDown: DOWN } as never;
    const held = decide([4, 8], behavior, { recommendations: [secondsAgo(59, 5)] });
    expect(held).toMatchObject({ replicas: 5, ableToScale: { reason: 'ScaleUpStabilized' } });
    expect(decide([4, 8], behavior, { recommendations: [secondsAgo(60, 5)] })).toMatchObject({ replicas: 8 });
  });

  it('shrinks at once where its window is 0', () => {
    const behavior = { scaleUp: UP, scaleDown: { ...DOWN, stabilizationWindowSeconds: 0 } } as never;
    expect(decide([6, 3], behavior, { recommendations: [secondsAgo(1, 6)] })).toMatchObject({ replicas: 3 });
  });
});

describe('the memory of an autoscaler', () => {
  it('is forgotten when no window reaches back to it', () => {
    const kept = remember([secondsAgo(3601, 9), secondsAgo(3600, 8)], 7, clock.now());
    expect(kept.map(({ replicas }) => replicas)).toEqual([8, 7]);
  });
});
