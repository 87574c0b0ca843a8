import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../../machinery/kubernetes/index.js';
import { Deployment as DeploymentKind } from '../../../machinery/kubernetes/index.js';
import { aView } from './rollout-view.fixture.js';
import type { Shape } from './rollout-view.fixture.js';
import { watchOrder } from './watch-order.js';

const RELEASE = { 'rollkeeper.dev/release': 'shop-1' };
const FAILURE = {
  ...{ template: 'a', replicaSet: 'web-a', revision: '2' },
  ...{ at: '2026-01-01T00:00:00Z', cause: 'no such image', release: 'shop-1' },
};

function member(shape: Shape = {}): Deployment {
  const annotations = { ...RELEASE, ...shape.annotations };
  return structuredClone(
    aView({ reason: 'ReplicaSetUpdated', ...shape, annotations }).deployment,
  ) as Deployment;
}

function failed(...failures: readonly object[]): Deployment {
  return member({ updated: 1, annotations: { 'rollkeeper.dev/failed': JSON.stringify(failures) } });
}

/** Whether a change of one brings back those that wait for it, and those of its release. */
function wakes(old: Deployment, object: Deployment): { followers: boolean; release: boolean } {
  const [followers = false, release = false] = watchOrder(DeploymentKind).map(({ predicates }) =>
    predicates.every((predicate) => predicate({ type: 'modified', old, object })),
  );
  return { followers, release };
}

describe('a change of a Deployment of a release', () => {
  it('brings those that wait for it back at each number of pods, and the others of its release at none', () => {
    expect(wakes(member({ updated: 1 }), member({ updated: 2 }))).toEqual({
      followers: true,
      release: false,
    });
    const said = (message: string) => member({ updated: 1, message });
    expect(wakes(said('1 of 5'), said('2 of 5'))).toEqual({ followers: true, release: false });
  });

  it.each([
    ['it ends', member({ updated: 1 }), member({ reason: 'NewReplicaSetAvailable' })],
    ['it fails', member({ updated: 1 }), failed(FAILURE)],
    ['it is changed', member(), member({ generation: 3 })],
    ['it leaves the release', member(), member({ annotations: { 'rollkeeper.dev/release': 'shop-2' } })],
  ])('brings the others of its release back when %s', (_, old, object) => {
    expect(wakes(old, object).release).toBe(true);
  });

  it('brings none of them back when it follows a failure of theirs', () => {
    expect(wakes(member({ updated: 1 }), failed({ ...FAILURE, byOther: true })).release).toBe(false);
  });
});
