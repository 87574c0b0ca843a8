import fc from 'fast-check';
import { describe, it } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import { DaemonSetWorld, change, scenario } from './daemon-set-world.fixture.js';

/*
 * Invariants, for any policies, nodes that come, go, fail and are tainted, any order in which the set's controller, the kubelets and
 * the controller of rollouts act, any write at which a process dies or whose answer is lost, and any changes and requests of a person
 * meanwhile:
 *
 * 1. A version that has not been approved is given no more nodes than its steps allow.
 * 2. Under a freeze, and outside of its window, no version is given a node before it has begun.
 * 3. An available pod is deleted only while no more nodes than may be are without one.
 * 4. The template is changed to a version that all nodes have had, and to another one only if a person retries.
 * 5. Nothing else of the spec is changed, no pod goes that is of the version that is asked for, and none on a node that should not
 *    have one: it would not come back.
 * 6. At rest the version that is asked for runs, or the set says why it does not; if time alone can change that, it looks again.
 * 7. Once a person wants a version that works, and approves of it, it runs alone in the end, and the set is held.
 * 8. Its history calls complete what was, and nothing else.
 * 9. Without the policies the set is as its author wrote it.
 */
const runs = propertyRuns({ gate: 15, nightly: 400 });

describe('DaemonSets under policies', () => {
  it('keep to their rules whatever happens, and end where they should', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(scenario, fc.array(change, { maxLength: 14 }), async (drawn, changes) => {
        const world = new DaemonSetWorld(drawn);
        await world.begin();
        for (const each of changes) await world.apply(each);
        await world.settle('db:9');
        await world.leave();
      }),
      runs,
    );
  });
});
