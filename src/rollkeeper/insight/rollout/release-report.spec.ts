import { describe, expect, it } from 'vitest';
import { Deployment } from '../../../machinery/kubernetes/index.js';
import { InMemoryApi } from '../../../testing/in-memory/in-memory-api.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { readRelease, renderRelease } from './release-report.js';

const NOW_MS = Date.UTC(2026, 0, 1, 12);

/** A Deployment of the release, as its conditions have it. */
function member(name: string, release: string, reason: string, message: string): Deployment {
  const base = aDeployment({ replicas: 1, annotations: { 'rollkeeper.dev/release': release } });
  const counts = { replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1 };
  const condition = { type: 'Progressing', status: 'Unknown' as const, reason, message };
  return {
    ...base,
    metadata: { ...base.metadata, name, uid: `uid-of-${name}` },
    status: { ...counts, observedGeneration: 1, conditions: [condition] },
  };
}

async function report(...members: readonly Deployment[]) {
  const api = new InMemoryApi();
  for (const each of members) api.seed(Deployment, each);
  return readRelease(api, { release: 'shop-42', namespace: 'default', nowMs: NOW_MS });
}

describe('a release', () => {
  const done = member('db', 'shop-42', 'NewReplicaSetAvailable', 'done');
  const waits = member('web', 'shop-42', 'WaitingForOrder', 'The rollout waits for deployment/api');
  const asks = member('api', 'shop-42', 'WaitingForApproval', 'Step 1 of 2');
  const back = member('jobs', 'shop-42', 'RolledBack', 'Revision 2 failed');

  it('is as far as the one of its Deployments that is worst', async () => {
    expect((await report(done))?.outcome).toBe('complete');
    expect((await report(done, waits))?.outcome).toBe('held');
    expect((await report(done, waits, asks))?.outcome).toBe('waiting-for-approval');
    expect((await report(done, waits, asks, back))?.outcome).toBe('rolled-back');
  });

  it('has its Deployments by name, and none of another release', async () => {
    const found = await report(waits, done, member('other', 'shop-41', 'RolledBack', ''));
    expect(found && renderRelease(found).split('\n')).toEqual([
      'release shop-42 in namespace default: held',
      'DEPLOYMENT  PHASE     MESSAGE',
      'db          complete  deployment "db" successfully rolled out',
      'web         held      The rollout waits for deployment/api',
    ]);
  });

  it('is not there if no Deployment names it', async () => {
    expect(await report(member('other', 'shop-41', 'RolledBack', ''))).toBeUndefined();
  });
});
