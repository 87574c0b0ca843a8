import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment, Lease } from '../../src/machinery/kubernetes/index.js';
import { askStatus } from '../../src/rollkeeper/replica/supervisor/replica-probe.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { Rollouts } from './support/rollouts.js';
import { SharedUp } from './support/shared-up.js';

const namespace = 'leader-works';

describe('replicas with the lease in the API, of which only the leader works', () => {
  let up: SharedUp;
  let client: HttpApiClient;

  beforeAll(async () => {
    up = await SharedUp.take('leases');
    client = await up.client();
    await up.createNamespace(client, namespace);
  });

  afterAll(async () => {
    await client.close();
    await up.give();
  });

  it('roll out, and go on with the other when the leader is killed', async () => {
    const rollouts = new Rollouts(client, namespace);
    await client.create(Deployment, aDeployment({ namespace, name: 'web', replicas: 3 }));
    expect((await rollouts.rolledOut('web')).status?.observedGeneration).toBe(1);
    const lease = await client.get<Lease>(Lease, { namespace: 'kube-system', name: 'rollkeeper' });
    expect(lease.spec?.holderIdentity).toMatch(/^controller-/);
    const token = await up.adminToken();
    // One that was started a moment ago may not answer yet.
    const statuses = await waitFor(
      async () => {
        const { replicas } = await up.status();
        const all = await Promise.all(replicas.map((replica) => askStatus(replica, token)));
        return all.length === 2 && all.every((status) => status !== undefined) && all;
      },
      { what: 'both replicas to answer' },
    );
    for (const { controllers, leader } of statuses)
      expect(controllers.every(({ consuming }) => consuming === leader)).toBe(true);

    process.kill((await up.leader()).pid, 'SIGKILL');
    await rollouts.setImage('web', 'web:2');
    expect((await rollouts.rolledOut('web')).status?.observedGeneration).toBe(2);
  });
});
