import { describe, expect, it } from 'vitest';
import { isNightly } from '../../../src/testing/property-runs.js';
import { importWith } from '../planted/planted-import.js';
import { QUEUE_BUGS } from '../planted/queue-bugs.js';
import { ModelViolation, describeExplored, explore } from './explorer.js';
import type * as QueueModel from './queue.model.js';
import { queueModel } from './queue.model.js';

const FAULTS = isNightly ? 3 : 2;
/** The many states with three faults may take so long, milliseconds. */
const NIGHTLY_LIMIT_MS = 900_000;
const CHANGES = 2;

describe('one key on its way through the queue', () => {
  it(
    'keeps its promises in every state: no two runs, no change lost, and it is never parked forever',
    async () => {
      const explored = await explore(await queueModel(FAULTS, CHANGES));
      console.log(describeExplored('queue', FAULTS, explored));
      expect(explored.states).toBeGreaterThan(1000);
    },
    NIGHTLY_LIMIT_MS,
  );
});

describe('the model of the queue can fail', () => {
  it.each(QUEUE_BUGS.map((bug) => [bug.breaks, bug] as const))('%s', async (_, bug) => {
    const planted = (await importWith('../model/queue.model.js', bug)) as typeof QueueModel;
    const explored = planted.queueModel(bug.withinFaults, CHANGES).then((model) => explore(model));
    await expect(explored).rejects.toThrow(ModelViolation);
  });
});
