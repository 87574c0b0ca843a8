import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toRfc3339 } from '../../machinery/clock/index.js';
import type { Deployment, ReplicaSet } from '../../machinery/kubernetes/index.js';
import { newControllerRef } from '../../machinery/kubernetes/index.js';
import { aDeployment } from '../../testing/deployment-builder.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { DESIRED_REPLICAS, MAX_REPLICAS } from './kubernetes/annotations.js';
import { decideRollout } from './decide-rollout.js';
import { OWN_RULES } from './kubernetes/rollout-rules.js';
import { RolloutDraft } from './kubernetes/draft.js';
import { MAX_INT32 } from './kubernetes/int32.js';
import { maxTotalReplicas, replicasOf } from './kubernetes/limits.js';

/*
 * Invariants of one pass, for any sizes and limits that the API accepts, and any annotations:
 *
 * 1. Each size, and each count of the status, is a whole number from 0 to the largest int32.
 * 2. The sum of the sizes exceeds spec.replicas + maxSurge only if it did before, and then it does not grow.
 * 3. For any surge, proportional scaling adds at most two versions of the wanted size, and the new one at most one.
 * 4. A new ReplicaSet gets pods in the pass that creates it, if there is room.
 */
const runs = propertyRuns({ gate: 500, nightly: 5000 });
const NOW_MS = Date.UTC(2026, 0, 1);
const sizes = fc.oneof(
  fc.constantFrom(0, 1, 2, 3, 10, 50_000, MAX_INT32 - 1, MAX_INT32),
  fc.integer({ min: 0, max: MAX_INT32 }),
);
const percent = fc.constantFrom('0%', '1%', '25%', '100%', '101%', '1000%', '99999999999999999999%');
const limits = fc.oneof(sizes, percent);
const noted = fc.option(
  fc.constantFrom('-2147483647', '-1', '0', '1', '3', '2147483647', '99999999999', 'x'),
  { nil: undefined },
);
const replicaSet = fc.record({ size: sizes, available: sizes, desired: noted, whole: noted });
const scenario = fc.record({
  replicas: sizes,
  maxSurge: limits,
  maxUnavailable: limits,
  paused: fc.boolean(),
  old: fc.array(replicaSet, { maxLength: 3 }),
  current: fc.option(replicaSet, { nil: undefined }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;
type Drawn = typeof replicaSet extends fc.Arbitrary<infer T> ? T : never;

describe(`a pass over extreme sizes (SEED=${runs.seed})`, () => {
  it('writes nothing that an int32 cannot hold, and keeps to the limits', () => {
    fc.assert(fc.property(scenario, check), {
      ...runs,
      // 2 pods with the largest surge once resulted in -2147483647 requested pods.
      examples: [
        [{ replicas: 2, maxSurge: MAX_INT32, maxUnavailable: 0, paused: false, old: [], current: undefined }],
      ],
    });
  });
});

function check(drawn: Scenario): void {
  const draft = draftOf(drawn);
  const before = draft.replicaSets.reduce((total, { replicas }) => total + replicas, 0);
  decideRollout(draft, { podsOf: () => [], rules: OWN_RULES });
  const after = draft.replicaSets.map(({ replicas }) => replicas);
  const { conditions: _conditions, ...counts } = draft.status;
  for (const count of [...after, ...Object.values(counts)]) expect(isInt32(count), `${count}`).toBe(true);
  for (const { annotations } of draft.replicaSets.filter((set) => !set.observed)) {
    expect(isInt32(Number(annotations[DESIRED_REPLICAS]))).toBe(true);
    expect(isInt32(Number(annotations[MAX_REPLICAS]))).toBe(true);
  }
  const total = after.reduce((sum, size) => sum + size, 0);
  expect(total).toBeLessThanOrEqual(Math.max(before, maxTotalReplicas(draft.spec)));
  const wanted = replicasOf(draft.spec);
  expect(total).toBeLessThanOrEqual(Math.max(before, 2 * wanted) + wanted);
  const created = draft.replicaSets.find((set) => !set.observed);
  if (created && total < maxTotalReplicas(draft.spec) && replicasOf(draft.spec) > 0)
    expect(created.replicas).toBeGreaterThan(0);
}

function isInt32(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_INT32;
}

function draftOf({ replicas, maxSurge, maxUnavailable, paused, old, current }: Scenario): RolloutDraft {
  const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge, maxUnavailable } };
  const deployment = aDeployment({ replicas, strategy, spec: { paused }, image: 'app:new' });
  const owned = old.map((set, index) => replicaSetOf(deployment, `app:${index}`, set));
  if (current) owned.push(replicaSetOf(deployment, 'app:new', current));
  return new RolloutDraft({ deployment, owned, adopted: [], now: toRfc3339(NOW_MS), nowMs: NOW_MS });
}

function replicaSetOf(deployment: Deployment, image: string, drawn: Drawn): ReplicaSet {
  const { size, desired, whole } = drawn;
  const { template } = aDeployment({ image }).spec;
  const name = `web-${image.replace(':', '-')}`;
  const available = Math.min(drawn.available, size);
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-of-${name}`,
      generation: 1,
      ownerReferences: [newControllerRef(deployment)],
      annotations: {
        ...(desired === undefined ? {} : { [DESIRED_REPLICAS]: desired }),
        ...(whole === undefined ? {} : { [MAX_REPLICAS]: whole }),
      },
    },
    spec: { replicas: size, selector: deployment.spec.selector, template },
    status: { replicas: size, readyReplicas: available, availableReplicas: available, observedGeneration: 1 },
  };
}
