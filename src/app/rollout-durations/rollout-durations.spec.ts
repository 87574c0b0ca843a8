import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/clock/index.js';
import type { Informer, ResourceEvent, ResourceEventHandler } from '../../kit/informer/index.js';
import type { Deployment } from '../../base/kubernetes/index.js';
import { RolloutDurations } from './rollout-durations.js';

let clock: FakeClock;
let ended: [string, number][];
let leads: boolean;
let tell: (event: ResourceEvent<Deployment>) => void;
let rollouts: RolloutDurations;

beforeEach(() => {
  clock = new FakeClock();
  ended = [];
  leads = true;
  rollouts = new RolloutDurations({
    clock,
    metrics: { ended: (outcome, durationMs) => void ended.push([outcome, durationMs]) },
    isLeader: () => leads,
  });
  const addEventHandler = (handler: ResourceEventHandler<Deployment>) => {
    tell = handler;
    return () => undefined;
  };
  rollouts.watch({ addEventHandler } as unknown as Informer<Deployment>);
});

interface Shape {
  generation: number;
  observed?: number;
  updated?: number;
  reason?: string;
  uid?: string;
}

function web({ generation, observed = generation, reason, uid = 'u', updated = 0 }: Shape): Deployment {
  const conditions = reason ? [{ type: 'Progressing' as const, status: 'False' as const, reason }] : [];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', uid, generation },
    spec: { replicas: 3, selector: {}, template: {} },
    status: {
      observedGeneration: observed,
      updatedReplicas: updated,
      replicas: 3,
      availableReplicas: 3,
      conditions,
    },
  };
}

const done = (generation: number): Deployment => web({ generation, updated: 3 });
const modified = (old: Deployment, object: Deployment): void => tell({ type: 'modified', old, object });

describe('the duration of a rollout', () => {
  it('runs from the change to the status that says complete', async () => {
    modified(done(1), web({ generation: 2, observed: 1, updated: 3 }));
    await clock.advance(1500);
    modified(web({ generation: 2 }), web({ generation: 2, updated: 2 }));
    await clock.advance(500);
    modified(web({ generation: 2, updated: 2 }), done(2));
    expect(ended).toEqual([['complete', 2000]]);
    expect(rollouts.size).toBe(0);
  });

  it('is told once, whatever the status says later', () => {
    modified(done(1), web({ generation: 2 }));
    modified(web({ generation: 2 }), done(2));
    modified(done(2), done(2));
    expect(ended).toHaveLength(1);
  });

  it('ends when the deadline has passed', () => {
    modified(done(1), web({ generation: 2 }));
    modified(web({ generation: 2 }), web({ generation: 2, reason: 'ProgressDeadlineExceeded' }));
    expect(ended).toEqual([['deadline_exceeded', 0]]);
  });

  it('ends with the next change, which begins another', () => {
    modified(done(1), web({ generation: 2 }));
    modified(web({ generation: 2 }), web({ generation: 3, observed: 2 }));
    expect(ended).toEqual([['superseded', 0]]);
    expect(rollouts.size).toBe(1);
  });

  it('ends with the Deployment, also where another has its name', () => {
    modified(done(1), web({ generation: 2 }));
    tell({ type: 'deleted', object: web({ generation: 2 }), finalStateUnknown: true });
    tell({ type: 'added', object: web({ generation: 1, observed: 0, uid: 'other' }), initial: false });
    expect(ended.map(([outcome]) => outcome)).toEqual(['deleted']);
    expect(rollouts.size).toBe(1);
  });

  it('is told by the leader alone, but known to everybody', async () => {
    leads = false;
    tell({ type: 'added', object: web({ generation: 1, observed: 0 }), initial: false });
    await clock.advance(700);
    leads = true;
    modified(web({ generation: 1 }), done(1));
    expect(ended).toEqual([['complete', 700]]);
  });

  it('is not made up for what was there before us', () => {
    tell({ type: 'added', object: web({ generation: 5 }), initial: true });
    modified(web({ generation: 5 }), done(5));
    expect(ended).toEqual([]);
  });
});
