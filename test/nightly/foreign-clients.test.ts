import { afterAll, beforeAll, describe, it } from 'vitest';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { runCheck } from '../clients/check.js';
import { CLIENT_NODE_CHECKS } from '../clients/client-node/index.js';

describe('@kubernetes/client-node', { timeout: 180_000 }, () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster();
  });
  afterAll(() => cluster.stop());

  it.for(CLIENT_NODE_CHECKS.map((check, index) => ({ ...check, index })))('$name', async (check) => {
    await runCheck(check, cluster, `client-node-${check.index}`);
  });
});
