import { describe, expect, it } from 'vitest';
import { aPod } from '../../testing/pod-builder.js';
import { aReplicaSet } from '../../testing/replicaset-harness.js';
import { FAILED_CREATE } from '../shared/index.js';
import { decideStatus, isSameStatus } from './status.js';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const failure = { reason: FAILED_CREATE, error: new Error('exceeded quota') } as const;
const decide = (input: Partial<Parameters<typeof decideStatus>[0]> = {}) =>
  decideStatus({
    replicaSet: aReplicaSet(),
    active: [],
    terminating: [],
    failure: undefined,
    nowMs,
    ...input,
  });

describe('decideStatus', () => {
  it('counts pods that are there, fully labelled, ready, available and terminating', () => {
    const active = [
      aPod({ readySince: '2026-01-01T11:59:30Z' }),
      aPod({ readySince: '2026-01-01T11:59:31Z' }),
      aPod({ labels: {} }),
    ];
    const replicaSet = aReplicaSet({ minReadySeconds: 30 });
    expect(decide({ replicaSet, active, terminating: [aPod()] })).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 1,
      terminatingReplicas: 1,
      observedGeneration: 1,
    });
  });

  it('says since when and why pods cannot be created, keeps that, and takes it back', () => {
    const first = decide({ failure });
    expect(first.conditions).toEqual([
      {
        type: 'ReplicaFailure',
        status: 'True',
        reason: 'FailedCreate',
        message: 'exceeded quota',
        lastTransitionTime: '2026-01-01T12:00:00Z',
      },
    ]);
    const failing = { ...aReplicaSet(), status: first };
    const later = decide({ replicaSet: failing, failure, nowMs: nowMs + 5000 });
    expect(later.conditions).toEqual(first.conditions);
    expect(decide({ replicaSet: failing }).conditions).toBeUndefined();
  });
});

describe('isSameStatus', () => {
  it('takes a missing count for 0, but not that of terminating pods, and sees every other difference', () => {
    const status = decide();
    expect(isSameStatus({ replicas: 0, observedGeneration: 1, terminatingReplicas: 0 }, status)).toBe(true);
    expect(isSameStatus({ replicas: 0, observedGeneration: 1 }, status)).toBe(false);
    const old = decide({ terminating: undefined });
    expect(isSameStatus({ replicas: 0, observedGeneration: 1 }, old)).toBe(true);
    expect(isSameStatus(undefined, status)).toBe(false);
    expect(isSameStatus(status, decide({ failure }))).toBe(false);
    expect(isSameStatus(status, { ...status, terminatingReplicas: 1 })).toBe(false);
  });
});
