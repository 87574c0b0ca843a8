import { describe, expect, it } from 'vitest';
import type { ControllerDefinition, Job } from 'rollkeeper';
import { CustomResourceDefinition, Job as JobKind, definitionOf } from 'rollkeeper';
import type { SimulatedOperator, StoredObjects } from 'rollkeeper/testing/simulation';
import { simulateOperator } from 'rollkeeper/testing/simulation';
import { Backup, backups, naiveBackups } from '../faults/backups.js';

const BACKUPS = 20;

/** Backups in a cluster of three replicas, under the faults of a seed. */
function simulated(operator: ControllerDefinition, seed: number): Promise<SimulatedOperator> {
  const jobsOf = (objects: StoredObjects): number => objects.list<Job>(JobKind).length;
  return simulateOperator({
    seed,
    controllers: () => [operator],
    before: async (client) => {
      await client.create(CustomResourceDefinition, definitionOf(Backup));
    },
    users: async ({ client, sleep }) => {
      for (let each = 0; each < BACKUPS; each++) {
        await sleep(900);
        const metadata = { namespace: 'default', name: `backup-${each}` };
        const backup = { apiVersion: 'example.com/v1', kind: 'Backup', metadata, spec: { volume: 'photos' } };
        // A request may have no answer. The rules look at what is stored.
        await client.create(Backup, backup).catch(() => undefined);
      }
    },
    always: (objects) => {
      const wanted = objects.list(Backup).length;
      return jobsOf(objects) > wanted ? `${jobsOf(objects)} Jobs for ${wanted} Backups` : undefined;
    },
    eventually: (objects) => {
      const wanted = objects.list(Backup).length;
      return jobsOf(objects) < wanted ? `${jobsOf(objects)} Jobs for ${wanted} Backups` : undefined;
    },
  });
}

const SEEDS = Array.from({ length: 10 }, (_, index) => index + 1);

/** The first problem of the seeds. */
async function firstProblem(operator: ControllerDefinition): Promise<string | undefined> {
  for (const seed of SEEDS) {
    const [problem] = (await simulated(operator, seed)).problems;
    if (problem) return `seed ${seed}: ${problem.problem}`;
  }
  return undefined;
}

describe('an operator in a simulated cluster', () => {
  it('shows its bug: the naive one makes two Jobs of one Backup', async () => {
    expect(await firstProblem(naiveBackups)).toMatch(/\d+ Jobs for \d+ Backups/);
  });

  it('keeps its rules under all seeds once it is mended', async () => {
    expect(await firstProblem(backups)).toBeUndefined();
  });

  it('does the same again for the same seed', async () => {
    const [once, again] = [await simulated(backups, 1), await simulated(backups, 1)];
    expect(again).toEqual(once);
  });
});
