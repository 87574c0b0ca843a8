import { describe, expect, it } from 'vitest';
import { isNightly } from '../../../src/testing/property-runs.js';
import { LEASE_BUGS } from '../planted/lease-bugs.js';
import { importWith } from '../planted/planted-import.js';
import { ModelViolation, describeExplored, explore } from './explorer.js';
import type * as LeaseModel from './lease.model.js';
import { leaseModel } from './lease.model.js';

const FAULTS = isNightly ? 3 : 2;
/** Three faults make half a million states of a lease. Milliseconds. */
const NIGHTLY_LIMIT_MS = 900_000;

describe('two replicas and their lease', () => {
  it(
    'keep their promises in every state: one believes that it leads, the fence never goes back, one leads again',
    async () => {
      const explored = await explore(leaseModel(FAULTS));
      console.log(describeExplored('lease', FAULTS, explored));
      expect(explored.states).toBeGreaterThan(20_000);
    },
    NIGHTLY_LIMIT_MS,
  );
});

describe('the model of the lease can fail', () => {
  it.each(LEASE_BUGS.map((bug) => [bug.breaks, bug] as const))('%s', async (_, bug) => {
    const planted = (await importWith('../model/lease.model.js', bug)) as typeof LeaseModel;
    await expect(explore(planted.leaseModel(bug.withinFaults))).rejects.toThrow(ModelViolation);
  });
});
