import { describe, expect, it } from 'vitest';
import type { Lister } from '../../../runtime/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { Deployment, Pod, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { orderSource } from './rollout-order.js';
import { T0, aView } from './rollout-view.fixture.js';

/** The others of a release, and how many of them have been looked at. */
function aRelease(members: number) {
  const { deployment, replicaSets } = aView({ reason: 'ReplicaSetUpdated', updated: 1 });
  let looks = 0;
  const order = orderSource({
    clock: new FakeClock(T0),
    defaultsOf: () => undefined,
    deployments: { byIndex: () => Array.from({ length: members }, () => deployment) } as Partial<
      Lister<Deployment>
    > as Lister<Deployment>,
    replicaSets: {
      byIndex: () => {
        looks++;
        return replicaSets;
      },
    } as Partial<Lister<ReplicaSet>> as Lister<ReplicaSet>,
    pods: { byIndex: () => [] } as Partial<Lister<Pod>> as Lister<Pod>,
  });
  return { order, looks: () => looks };
}

describe('the Deployments of a release, as the caches show them', () => {
  it('are looked at one by one, as far as they are asked for', () => {
    const { looks, order } = aRelease(1000);
    for (const { state } of order.inRelease('default', 'shop-1')) {
      expect(state).toBe('rolling');
      break;
    }
    expect(looks()).toBe(1);
  });

  it('are not looked at for a failure that none of them has', () => {
    const { looks, order } = aRelease(1000);
    expect([...order.failedIn('default', 'shop-1')]).toEqual([]);
    expect(looks()).toBe(0);
  });
});
