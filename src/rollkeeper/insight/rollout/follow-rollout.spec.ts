import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { Deployment } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import type { FollowOptions, ObservedRollout, RolloutEnd, RolloutSource } from './follow-rollout.js';
import { followRollout, lookAtRollout } from './follow-rollout.js';

interface State {
  readonly reason?: string;
  readonly message?: string;
  readonly updated?: number;
  readonly available?: number;
  readonly generation?: number;
  readonly image?: string;
  readonly annotations?: Record<string, string>;
}

function aState({ annotations, generation = 2, image, message, reason, ...counts }: State): Deployment {
  const deployment = aDeployment({ replicas: 5, annotations, image });
  const { available = 5, updated = 5 } = counts;
  const lastUpdateTime = '2026-01-01T00:00:00Z';
  return {
    ...deployment,
    metadata: { ...deployment.metadata, generation },
    status: {
      ...{ observedGeneration: generation, replicas: 5, updatedReplicas: updated },
      availableReplicas: available,
      conditions: [{ type: 'Progressing', status: 'True', reason, message, lastUpdateTime }],
    },
  };
}

/** A rollout that a test takes from state to state. */
class Played implements RolloutSource {
  readonly clock = new FakeClock();
  readonly lines: string[] = [];
  trouble: string | undefined;
  end: RolloutEnd | undefined;
  failure: unknown;
  private observed: ObservedRollout | undefined;
  private wake: (() => void) | undefined;
  private readonly stopper = new AbortController();

  constructor(first: State) {
    this.become(first);
  }

  become(state: State | 'gone'): void {
    const none = { replicaSets: [], pods: [], isWhole: false };
    this.observed = state === 'gone' ? undefined : { deployment: aState(state), ...none };
    this.wake?.();
  }

  current(): ObservedRollout | undefined {
    return this.observed;
  }

  async waitForChange(forMs: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.wake = () => woken.abort();
    signal.addEventListener('abort', this.wake, { once: true });
    await this.clock.sleep(forMs, woken.signal).catch(() => undefined);
    signal.throwIfAborted();
  }

  async follow(options: Partial<FollowOptions> = {}): Promise<this> {
    const reporter: FollowOptions['reporter'] = {
      show: ({ message, phase }, isNews) => void (isNews && this.lines.push(`${phase}: ${message}`)),
      end: ({ report }) => void this.lines.push(`end: ${report.message}`),
    };
    const { clock } = this;
    followRollout(this, { clock, timeoutMs: 300_000, reporter, ...options }, this.stopper.signal).then(
      (end) => (this.end = end),
      (error: unknown) => (this.failure = error),
    );
    await this.clock.advance(0);
    return this;
  }

  async reach(state: State | 'gone'): Promise<void> {
    this.become(state);
    await this.clock.advance(0);
  }

  async stop(): Promise<void> {
    this.stopper.abort(new Error('stopped'));
    await this.clock.advance(0);
  }
}

const ROLLING: State = { reason: 'ReplicaSetUpdated', updated: 3 };
const COMPLETE: State = { reason: 'NewReplicaSetAvailable' };

describe('a wait for a rollout', () => {
  it('tells each change once, and ends when it is complete', async () => {
    const played = await new Played(ROLLING).follow();
    await played.clock.advance(20_000);
    await played.reach({ ...ROLLING, updated: 4 });
    expect(played.end).toBeUndefined();
    await played.reach(COMPLETE);
    expect(played.end?.outcome).toBe('complete');
    expect(played.lines).toEqual([
      'progressing: Waiting for deployment "web" rollout to finish: 3 out of 5 new replicas have been updated',
      'progressing: Waiting for deployment "web" rollout to finish: 4 out of 5 new replicas have been updated',
      'end: deployment "web" successfully rolled out',
    ]);
    expect(played.clock.pendingTimers).toBe(0);
  });

  it('ends when the time is over, with what is waited for, and why the API is not heard of', async () => {
    const played = await new Played(ROLLING).follow();
    await played.clock.advance(299_000);
    played.trouble = 'connect ECONNREFUSED';
    expect(played.end).toBeUndefined();
    await played.clock.advance(1000);
    expect(played.end?.outcome).toBe('timed-out');
    expect(played.end?.report.message).toBe(
      'timed out after 5m (the API cannot be asked: connect ECONNREFUSED): Waiting for deployment "web" rollout to finish: 3 out of 5 new replicas have been updated',
    );
  });

  it('counts its time from when the command began', async () => {
    const played = new Played(ROLLING);
    const startedMs = played.clock.monotonicNow();
    await played.clock.advance(200_000);
    await played.follow({ startedMs });
    await played.clock.advance(100_000);
    expect(played.end?.outcome).toBe('timed-out');
  });

  it('goes on at an approval and under a freeze, unless it was told to end there', async () => {
    const waits: State = { reason: 'WaitingForApproval', message: 'Step 4 of 4', updated: 2 };
    const held: State = { reason: 'RolloutHeld', message: 'held by a freeze', updated: 0 };
    const patient = await new Played(waits).follow();
    await patient.reach(held);
    expect(patient.end).toBeUndefined();
    await patient.clock.advance(300_000);
    expect(patient.end?.outcome).toBe('timed-out');
    const forApproval = await new Played(held).follow({ until: { approval: true } });
    await forApproval.reach(waits);
    expect(forApproval.end?.outcome).toBe('waiting-for-approval');
    const forHeld = await new Played(waits).follow({ until: { held: true } });
    await forHeld.reach(held);
    expect(forHeld.end?.outcome).toBe('held');
  });

  it('ends by the failure of a version that failed, when what ran before is back, or when the time is over', async () => {
    const failure = {
      template: 'b',
      replicaSet: 'web-2',
      revision: '2',
      at: '2026-01-01T00:00:00Z',
      cause: 'no image',
    };
    const to = { template: 'a', replicaSet: 'web-1', revision: '1' };
    const annotations = { 'rollkeeper.dev/failed': JSON.stringify([{ ...failure, to }]) };
    const said = 'Revision 2 (ReplicaSet "web-2") failed: no image';
    const goingBack = {
      reason: 'ProgressDeadlineExceeded',
      message: `${said}. Going back to x.`,
      annotations,
    };
    const played = await new Played({ ...goingBack, updated: 2 }).follow();
    expect(played.end).toBeUndefined();
    await played.reach({
      reason: 'RolledBack',
      message: `${said}. Rolled back.`,
      annotations,
      generation: 3,
    });
    expect(played.end?.outcome).toBe('rolled-back');
    expect(played.lines.at(-1)).toBe(`end: deployment "web" was rolled back. ${said}. Rolled back`);
    const late = await new Played({ ...goingBack, updated: 2 }).follow();
    await late.clock.advance(300_000);
    expect(late.end?.outcome).toBe('rolled-back');
  });

  it('ends at once when the deadline has passed, with the words of the condition where pods may not be read', async () => {
    const message = 'ReplicaSet "web-2" has timed out progressing. 2 of 3 new pods: ImagePullBackOff.';
    const played = await new Played({ reason: 'ProgressDeadlineExceeded', message, updated: 3 }).follow();
    expect(played.end?.outcome).toBe('failed');
    expect(played.lines).toEqual([`end: deployment "web" exceeded its progress deadline: ${message}`]);
  });

  it('goes on through the bake time, and fails by pods that are missing at its end', async () => {
    const annotations = { 'rollkeeper.dev/bake-time': '2m' };
    const well = await new Played({ ...COMPLETE, annotations }).follow();
    expect(well.lines[0]).toContain('baking: deployment "web" is complete and is watched until');
    await well.clock.advance(119_000);
    expect(well.end).toBeUndefined();
    await well.clock.advance(1000);
    expect(well.end?.outcome).toBe('complete');
    const ill = await new Played({ ...COMPLETE, annotations }).follow();
    await ill.reach({ ...COMPLETE, annotations, available: 2 });
    await ill.clock.advance(120_000);
    expect(ill.end?.outcome).toBe('failed');
    const hasty = await new Played({ ...COMPLETE, annotations }).follow({ bakeMs: 0 });
    expect(hasty.end?.outcome).toBe('complete');
  });

  it('follows another template in the middle, and says so once', async () => {
    const played = await new Played(ROLLING).follow();
    await played.reach({ ...ROLLING, generation: 3 });
    expect(played.lines).toHaveLength(1);
    await played.reach({ ...ROLLING, generation: 4, image: 'web:3' });
    expect(played.lines.at(-1)).toContain('another template was asked for meanwhile: Waiting for');
    await played.reach({ ...ROLLING, generation: 4, image: 'web:3', updated: 4 });
    expect(played.lines.at(-1)).toContain('progressing: Waiting for');
    await played.reach({ ...COMPLETE, generation: 4, image: 'web:3' });
    expect(played.end?.outcome).toBe('complete');
  });

  it('ends when the Deployment is gone, and when it is stopped', async () => {
    const gone = await new Played(ROLLING).follow();
    await gone.reach('gone');
    expect(gone.end?.outcome).toBe('gone');
    expect(gone.lines.at(-1)).toBe('end: deployment "web" has been deleted');
    const stopped = await new Played(ROLLING).follow();
    await stopped.stop();
    expect(stopped.failure).toEqual(new Error('stopped'));
    expect(stopped.clock.pendingTimers).toBe(0);
  });

  it('is a single look for a status', () => {
    const clock = new FakeClock();
    const outcomeOf = (state: State) => lookAtRollout(new Played(state), { clock })?.outcome;
    expect(outcomeOf(COMPLETE)).toBe('complete');
    expect(outcomeOf(ROLLING)).toBe('progressing');
    expect(outcomeOf({ ...ROLLING, reason: 'WaitingForApproval' })).toBe('waiting-for-approval');
    expect(outcomeOf({ ...ROLLING, reason: 'RolloutHeld' })).toBe('held');
    expect(outcomeOf({ ...ROLLING, reason: 'ProgressDeadlineExceeded' })).toBe('failed');
  });
});
