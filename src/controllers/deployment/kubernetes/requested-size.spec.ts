import { describe, expect, it } from 'vitest';
import { toRfc3339 } from '../../../machinery/clock/index.js';
import { newControllerRef } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { RolloutDraft } from './draft.js';
import { setRequestedSize } from './requested-size.js';

const NOW_MS = Date.UTC(2026, 0, 1, 12);

/** 10 replicas in one ReplicaSet, with a surge of 2. */
function resized(from: number, size: number, annotations?: Record<string, string>) {
  const deployment = aDeployment({ replicas: 10 });
  const { selector, template } = deployment.spec;
  const metadata = { name: 'web-1', namespace: 'default', uid: 'u-1' };
  const draft = new RolloutDraft({
    deployment,
    owned: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { ...metadata, ownerReferences: [newControllerRef(deployment)] },
        spec: { replicas: from, selector, template },
      },
    ],
    adopted: [],
    now: toRfc3339(NOW_MS),
    nowMs: NOW_MS,
  });
  draft.limit({ surge: 2 });
  const [replicaSet] = draft.living;
  if (!replicaSet) throw new Error('there is no ReplicaSet');
  setRequestedSize(draft, { replicaSet, size, annotations });
  return replicaSet;
}

describe('a size that a policy asks for', () => {
  it.each([
    { from: 10, asked: 12, size: 12, why: 'is met within the surge' },
    { from: 10, asked: 14, size: 12, why: 'is limited to the surge' },
    { from: 12, asked: 11, size: 11, why: 'is met on the way back' },
    { from: 12, asked: 9, size: 10, why: 'is never below replicas' },
  ])('$why: $asked from $from', ({ asked, from, size }) => {
    expect(resized(from, asked).replicas).toBe(size);
  });

  it('is written with its annotations', () => {
    expect(resized(11, 10, { 'first-to-go': 'web-1-a' }).annotations).toMatchObject({
      'first-to-go': 'web-1-a',
      'deployment.kubernetes.io/desired-replicas': '10',
    });
  });
});
