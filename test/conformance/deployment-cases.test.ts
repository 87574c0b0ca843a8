import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { KUBERNETES_RULES } from '../../src/controllers/deployment/index.js';
import type { RecordedCase } from './conformance-format.js';
import { countSyncs, deploymentCases, runDeploymentCase } from './deployment-cases.js';

const FILE = 'test/vectors/deployment-sync-1.36.jsonl.gz';

type Recording = RecordedCase & {
  syncsToRest: number;
  atRest: { deployment: { status: object }; events?: string[]; error?: string };
};

const recordings = gunzipSync(await readFile(FILE))
  .toString('utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recording);

describe('the Deployment controller held against recordings of Kubernetes', () => {
  it('with none of our own rules, leaves every recorded state as the genuine controller did', async () => {
    const failures: string[] = [];
    for (const recorded of recordings) {
      const found = await runDeploymentCase(recorded, KUBERNETES_RULES);
      if (found.length > 0) failures.push(`${recorded.id}\n  ${found.join('\n  ')}`);
    }
    expect(failures.slice(0, 8).join('\n')).toBe('');
    expect(recordings).toHaveLength(889);
  }, 60_000);

  it('never needs more syncs than the genuine controller, and about half of them in all', async () => {
    const totals = { ours: 0, genuine: 0 };
    for (const recorded of recordings) {
      // The recordings omit the last sync, which writes nothing, unless it is the only one.
      const ours = Math.max(1, (await countSyncs(recorded)) - 1);
      expect(ours, recorded.id).toBeLessThanOrEqual(recorded.syncsToRest);
      totals.ours += ours;
      totals.genuine += recorded.syncsToRest;
    }
    expect(totals.ours).toBeLessThan(totals.genuine * 0.6);
  }, 60_000);

  it('finds a difference where there is one', async () => {
    const recorded = structuredClone(recordings[0]!);
    recorded.atRest.deployment.status = { ...recorded.atRest.deployment.status, observedGeneration: 77 };
    recorded.atRest.events = ['Normal ScalingReplicaSet Scaled down replica set web-hash3 from 7 to 0'];
    recorded.atRest.error = 'none of ours';
    expect(await deploymentCases.run(recorded)).toEqual([
      'deployment.status.observedGeneration: expected 77, got 2',
      'events[0]: expected "Normal ScalingReplicaSet Scaled down replica set web-hash3 from 7 to 0", got "Normal ScalingReplicaSet Scaled down replica set web-hash3 from 6 to 0"',
      'error: expected "none of ours", got nothing',
    ]);
    expect(await deploymentCases.deliberate?.(recorded)).toEqual([]);
  });
});
