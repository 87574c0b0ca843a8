import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { deploymentController } from '../../controllers/deployment/index.js';
import type { RecordedCase } from './conformance-format.js';
import { countSyncs, deploymentCases, deploymentFormat } from './deployment-cases.js';
import { runConformance } from './run-conformance.js';

const FILE = 'test/vectors/deployment-sync.jsonl.gz';

/** See RolloutRules. */
const SHOWING_FAULTS = {
  belowTheFloor: ['s11-0079', 's11-0191'],
  divisionByZero: ['s11-0348'],
  stuckWithTheRightSize: ['s11-0201'],
  stuckAsRecreate: ['s11-0002', 's11-0024', 's11-0035', 's11-0096', 's11-0233', 's11-0325', 's11-0349'],
};

describe('the Deployment controller held against recordings of Kubernetes', () => {
  it('leaves every recorded state as the genuine controller did', async () => {
    const failures: string[] = [];
    const totals = await runConformance(FILE, [deploymentCases], (id, differences) =>
      failures.push(`${id}\n  ${differences.join('\n  ')}`),
    );
    expect(failures.slice(0, 8).join('\n')).toBe('');
    expect(totals).toEqual({ passed: 400, failed: 0 });
  });

  it('as it runs in earnest it leaves out the faults of 1.20, which show in twelve of them', async () => {
    const differing: string[] = [];
    await runConformance(FILE, [deploymentFormat(deploymentController)], (id) => differing.push(id));
    expect(new Set(differing)).toEqual(new Set(Object.values(SHOWING_FAULTS).flat()));
  });

  it('never needs more syncs than the genuine controller, and about half of them in all', async () => {
    const lines = gunzipSync(await readFile(FILE))
      .toString('utf8')
      .trim()
      .split('\n');
    const totals = { ours: 0, genuine: 0 };
    for (const line of lines) {
      const recorded = JSON.parse(line) as RecordedCase & { syncsToRest: number };
      // The recordings leave out the last sync, which writes nothing, unless it is the only one.
      const ours = Math.max(1, (await countSyncs(recorded)) - 1);
      expect(ours, recorded.id).toBeLessThanOrEqual(recorded.syncsToRest);
      totals.ours += ours;
      totals.genuine += recorded.syncsToRest;
    }
    expect(totals.ours).toBeLessThan(totals.genuine * 0.6);
  });

  it('finds a difference where there is one', async () => {
    const [line = ''] = gunzipSync(await readFile(FILE))
      .toString('utf8')
      .split('\n');
    const recorded = JSON.parse(line) as RecordedCase & { atRest: { deployment: { status: object } } };
    recorded.atRest.deployment.status = { ...recorded.atRest.deployment.status, observedGeneration: 77 };
    expect(await deploymentCases.run(recorded)).toEqual([
      'deployment.status.observedGeneration: expected 77, got 2',
    ]);
  });
});
