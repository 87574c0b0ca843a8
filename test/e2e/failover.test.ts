import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/api-client/index.js';
import type { Deployment } from '../../src/kubernetes/index.js';
import { DEPLOYMENTS } from '../../src/kubernetes/index.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { Up } from './support/up.js';

describe('a replica that dies', () => {
  let up: Up;
  let client: HttpApiClient;
  let history: RolloutHistory;

  beforeAll(async () => {
    up = await Up.start();
    client = await up.client();
    history = new RolloutHistory(client, 'default');
    await history.start();
  });

  afterAll(async () => {
    await history.stop();
    await client.close();
    await up.stopAndRemove();
  });

  const read = (name: string) => client.get<Deployment>(DEPLOYMENTS, { namespace: 'default', name });
  const isRolledOut = async (name: string): Promise<boolean> => {
    const { metadata, spec, status } = await read(name);
    return (
      status?.observedGeneration === metadata.generation &&
      status?.updatedReplicas === spec.replicas &&
      status?.replicas === spec.replicas &&
      status?.availableReplicas === spec.replicas
    );
  };
  const setImage = (name: string, image: string) =>
    client.patch(
      DEPLOYMENTS,
      { namespace: 'default', name },
      {
        type: 'strategic',
        body: { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } },
      },
    );
  const leader = async (): Promise<number> =>
    waitFor(async () => (await up.status()).replicas.find((replica) => replica.leader)?.pid, {
      what: 'a leader',
    });
  const rolledOut = (name: string) =>
    waitFor(() => isRolledOut(name), { timeoutMs: 60_000, what: `${name} to be rolled out` });

  it('takes nothing with it when it leads in the middle of a rollout of twenty', async () => {
    await client.create(DEPLOYMENTS, aDeployment({ name: 'web', replicas: 20, minReadySeconds: 1 }));
    await rolledOut('web');
    await setImage('web', 'web:2');
    await waitFor(async () => ((await read('web')).status?.updatedReplicas ?? 0) > 0, {
      what: 'the rollout to begin',
    });

    process.kill(await leader(), 'SIGKILL');

    await rolledOut('web');
    expect(findViolations(history.events())).toEqual([]);
  });

  it('is replaced as leader, and a change made right after its death is carried out', async () => {
    const before = await leader();
    process.kill(before, 'SIGKILL');
    const changedAt = performance.now();
    const { metadata } = await setImage('web', 'web:3');
    await waitFor(async () => (await read('web')).status?.observedGeneration === metadata.generation, {
      timeoutMs: 15_000,
      what: 'the change to be seen',
    });
    console.log(`reacted ${Math.round(performance.now() - changedAt)} ms after the leader was killed`);
    expect(await leader()).not.toBe(before);
    await rolledOut('web');
  });

  it('comes back by itself, and works again', async () => {
    await waitFor(async () => (await up.status()).replicas.length === 3, {
      timeoutMs: 30_000,
      what: 'three replicas',
    });
  });

  it('loses no key when it only worked', async () => {
    const followers = (await up.status()).replicas.filter((replica) => !replica.leader);
    await setImage('web', 'web:4');
    for (const { pid } of followers) process.kill(pid, 'SIGKILL');
    await rolledOut('web');
    expect(findViolations(history.events())).toEqual([]);
  });

  it('hands over at once when it is stopped cleanly', async () => {
    await waitFor(async () => (await up.status()).replicas.length === 3, {
      timeoutMs: 30_000,
      what: 'three replicas',
    });
    const before = await leader();
    process.kill(before, 'SIGTERM');
    const changedAt = performance.now();
    const { metadata } = await setImage('web', 'web:5');
    await waitFor(async () => (await read('web')).status?.observedGeneration === metadata.generation, {
      timeoutMs: 15_000,
      what: 'the change to be seen',
    });
    console.log(`reacted ${Math.round(performance.now() - changedAt)} ms after the leader was stopped`);
    await rolledOut('web');
  });

  it('may be the API server or Redis: everything goes on once they are back', async () => {
    const { apiServer, redis } = await up.status();
    process.kill(apiServer?.pid ?? 0, 'SIGKILL');
    await waitFor(() => setImage('web', 'web:6').catch(() => undefined), {
      timeoutMs: 30_000,
      what: 'the API server',
    });
    await rolledOut('web');
    process.kill(redis?.pid ?? 0, 'SIGKILL');
    await waitFor(() => setImage('web', 'web:7').catch(() => undefined), {
      timeoutMs: 30_000,
      what: 'Redis',
    });
    await waitFor(() => isRolledOut('web').catch(() => false), { timeoutMs: 60_000, what: 'the rollout' });
  });
});
