import { describe, expect, it } from 'vitest';
import { isNightly } from '../../../src/testing/property-runs.js';
import { LOCK_BUGS } from '../planted/lock-bugs.js';
import { importWith } from '../planted/planted-import.js';
import { ModelViolation, describeExplored, explore } from './explorer.js';
import type * as LockModel from './lock.model.js';
import { lockModel } from './lock.model.js';

const FAULTS = isNightly ? 3 : 2;
/** The many states with three faults may take so long, milliseconds. */
const NIGHTLY_LIMIT_MS = 900_000;

describe('two replicas and the lock of a key', () => {
  it(
    'keep their promises in every state: one activation holds it, no former one has an effect, and it comes free again',
    async () => {
      const explored = await explore(lockModel(FAULTS));
      console.log(describeExplored('lock', FAULTS, explored));
      expect(explored.states).toBeGreaterThan(20_000);
    },
    NIGHTLY_LIMIT_MS,
  );
});

describe('the model of the lock can fail', () => {
  it.each(LOCK_BUGS.map((bug) => [bug.breaks, bug] as const))('%s', async (_, bug) => {
    const planted = (await importWith('../model/lock.model.js', bug)) as typeof LockModel;
    await expect(explore(planted.lockModel(bug.withinFaults))).rejects.toThrow(ModelViolation);
  });
});
