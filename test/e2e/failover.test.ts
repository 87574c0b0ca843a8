import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { Rollouts } from './support/rollouts.js';
import { SharedUp } from './support/shared-up.js';

const namespace = 'failover';

describe('a replica that dies', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let history: RolloutHistory;
  let rollouts: Rollouts;

  beforeAll(async () => {
    up = await SharedUp.take('killable');
    client = await up.client();
    await up.createNamespace(client, namespace);
    rollouts = new Rollouts(client, namespace);
    history = new RolloutHistory(client, namespace);
    await history.start();
  });

  afterAll(async () => {
    await history.stop();
    await client.close();
    await up.give();
  });

  const leader = async (): Promise<number> => (await up.leader()).pid;
  it('takes nothing with it when it leads in the middle of a rollout of twenty', async () => {
    await client.create(
      Deployment,
      aDeployment({ namespace, name: 'web', replicas: 20, minReadySeconds: 1 }),
    );
    await rollouts.rolledOut('web');
    await rollouts.setImage('web', 'web:2');
    await waitFor(async () => ((await rollouts.read('web')).status?.updatedReplicas ?? 0) > 0, {
      what: 'the rollout to begin',
    });

    process.kill(await leader(), 'SIGKILL');

    await rollouts.rolledOut('web');
    expect(findViolations(history.events())).toEqual([]);
  });

  it('is replaced as leader, and a change made right after its death is carried out', async () => {
    const before = await leader();
    process.kill(before, 'SIGKILL');
    const changedAt = performance.now();
    const changed = await rollouts.setImage('web', 'web:3');
    await rollouts.seen(changed);
    console.log(`reacted ${Math.round(performance.now() - changedAt)} ms after the leader was killed`);
    expect(await leader()).not.toBe(before);
    await rollouts.rolledOut('web');
  });

  it('comes back by itself, and works again', async () => {
    await waitFor(async () => (await up.status()).replicas.length === 3, {
      what: 'three replicas',
      intervalMs: 50,
    });
  });

  it('loses no key when it only worked', async () => {
    const followers = (await up.status()).replicas.filter((replica) => !replica.leader);
    await rollouts.setImage('web', 'web:4');
    for (const { pid } of followers) process.kill(pid, 'SIGKILL');
    await rollouts.rolledOut('web');
    expect(findViolations(history.events())).toEqual([]);
  });

  it('hands over when it is stopped cleanly', async () => {
    await waitFor(async () => (await up.status()).replicas.length === 3, {
      what: 'three replicas',
      intervalMs: 50,
    });
    const before = await leader();
    process.kill(before, 'SIGTERM');
    const changedAt = performance.now();
    const changed = await rollouts.setImage('web', 'web:5');
    await rollouts.seen(changed);
    console.log(`reacted ${Math.round(performance.now() - changedAt)} ms after the leader was stopped`);
    await rollouts.rolledOut('web');
  });

  it('may be the API server or Redis: everything goes on once they are back', async () => {
    const { apiServer, redis } = await up.status();
    process.kill(apiServer?.pid ?? 0, 'SIGKILL');
    await waitFor(() => rollouts.setImage('web', 'web:6').catch(() => undefined), {
      what: 'the API server',
    });
    await rollouts.rolledOut('web');
    process.kill(redis?.pid ?? 0, 'SIGKILL');
    await waitFor(() => rollouts.setImage('web', 'web:7').catch(() => undefined), {
      what: 'Redis',
    });
    await waitFor(() => rollouts.isRolledOut('web').catch(() => false), {
      what: 'the rollout',
    });
  });
});
