import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { Node } from '../../src/machinery/kubernetes/index.js';
import { Checks } from './checks.js';
import { findUnrest } from './checkers/rest.js';
import { FAULTS } from './faults/index.js';
import { faultKindsOn } from './faults/fault.js';
import { DeletedPods } from './deleted-pods.js';
import { History } from './history.js';
import { Journal } from './journal.js';
import { Load } from './load.js';
import { LOAD_NAMESPACE } from './namespaces.js';
import { findOpenIntents } from './open-intents.js';
import { Probes } from './probes.js';
import { findQueued } from './queues.js';
import { SeededRandom } from './random.js';
import type { ChaosCoordination } from './set/chaos-set.js';
import { ChaosSet } from './set/chaos-set.js';
import { takeTerms } from './terms.js';
import { writeTraces } from './trace.js';
import { waitFor } from '../../src/testing/wait-for.js';

const DIST = join(import.meta.dirname, '..', '..', 'dist');
const SEED = 1;
/** Far more than it takes; a busy machine must not look like a fault. */
const SEEN_WITHIN_MS = 60_000;
const PATIENCE = 5;

/** Tests: each fault once, in its shortest form, under load. `npm run chaos` makes them long, at random, and together. */
export function describeEachFault(name: string, coordination: ChaosCoordination): void {
  describe(name, () => {
    const random = new SeededRandom(SEED);
    const checks = new Checks({ redisLosesWrites: false, coordination });
    let set: ChaosSet;
    let history: History;
    let journal: Journal;
    let probes: Probes;
    let load: Load;
    let deletedPods: DeletedPods;
    let hasFailed = false;

    beforeAll(async () => {
      set = await ChaosSet.start({
        ...{ dist: DIST, coordination, replicas: 3, schedulers: 2 },
        random: () => random.next(),
      });
      checks.know((await set.client.list<Node>(Node)).items);
      history = new History(set.client, LOAD_NAMESPACE);
      journal = new Journal(set.replicas.map(({ journalFile }) => journalFile));
      probes = new Probes(set.client);
      history.onEvent = (event) => probes.note(event);
      await history.start();
      await probes.start();
      deletedPods = new DeletedPods(set.client);
      await deletedPods.prepare();
      load = new Load({ client: set.client, random, deployments: 10, pauseMs: 250 });
      load.start();
    });

    afterAll(async () => {
      await history.stop();
      await set.stop();
      if (hasFailed) console.error(`kept ${set.dataDir}: logs, journals and what was recorded`);
      else set.remove();
    });

    beforeEach(({ onTestFailed }) => onTestFailed(() => void (hasFailed = true)));

    it.each(faultKindsOn('single', coordination))('although: %s', async (kind) => {
      const seen: Promise<number>[] = [];
      const problems: string[] = [];
      const began = (): void => void seen.push(probes.measure(kind));
      const failed = (problem: string): void => void problems.push(problem);
      const make = async (): Promise<boolean> => {
        await FAULTS[kind]({ set, strength: 0, dice: random.next(), patience: PATIENCE, began, failed });
        return seen.length > 0;
      };
      // After the fault before there may be no replica to be hit yet: no leader, no follower that is ready.
      await waitFor(make, { timeoutMs: SEEN_WITHIN_MS, intervalMs: 50, what: 'the fault to be made' });
      expect(seen).toHaveLength(1);
      expect(await seen[0]).toBeLessThan(SEEN_WITHIN_MS);
      expect(problems).toEqual([]);
    });

    it('and are at rest in the end, nothing lost and nothing done twice', async () => {
      set.heal();
      await set.untilSettled();
      await load.stop();
      await waitFor(
        async () =>
          (await findUnrest(set.client, LOAD_NAMESPACE)).length +
            (await findQueued(set)).length +
            (await findOpenIntents(set)).length ===
          0,
        { timeoutMs: SEEN_WITHIN_MS, intervalMs: 100, what: 'everything to be at rest' },
      );
      expect(await deletedPods.check()).toEqual([]);
      await history.untilComplete();
      expect(history.gaps).toBe(0);
      const events = history.take();
      const lines = journal.take();
      const violations = [
        ...checks.checkRecorded(events, lines, await takeTerms(set.redis)),
        ...checks.checkAtRest(load.last()),
      ];
      writeTraces(set.dataDir, violations, events, lines);
      expect(violations).toEqual([]);
      expect(checks.counts()['activations']).toBeGreaterThan(100);
      expect(checks.counts()[coordination === 'leases' ? 'lease fence' : 'epochs']).toBeGreaterThan(100);
    });
  });
}
