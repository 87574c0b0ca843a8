import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { createHttpApiClient, loadKubeconfig, unlessGone } from '../../src/client/api-client/index.js';
import { FakeClock, SystemClock } from '../../src/machinery/clock/index.js';
import { LeaderElector, LeaseCandidacy, LeaseResourceLock } from '../../src/runtime/leader-election/index.js';
import { Lease } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { runResourceLockContract } from '../../src/testing/resource-lock-contract.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { RunningApiServer } from './api-server-harness.js';
import { startApiServer } from './api-server-harness.js';

const clock = new SystemClock();
let server: RunningApiServer;
let client: HttpApiClient;

beforeAll(async () => {
  server = await startApiServer({ tls: true });
  const connection = await loadKubeconfig({ path: server.kubeconfig, clock });
  client = createHttpApiClient({ connection, userAgent: 'test', clock });
});

afterAll(async () => {
  await client.close();
  await server.stop();
});

runResourceLockContract('LeaseResourceLock on an API server', async () => {
  const name = `lease-${randomUUID()}`;
  // Each candidate counts by its own clock; what the server's says means nothing.
  const own = new FakeClock(clock.now());
  const made: LeaseResourceLock[] = [];
  return {
    lock(identity) {
      const lock = new LeaseResourceLock({ client, identity, namespace: 'default', name, clock: own });
      made.push(lock);
      return lock;
    },
    pass: (ms) => own.advance(ms),
    async saved() {
      const ref = { namespace: 'default', name };
      const before = await unlessGone(client.get<Lease>(Lease, ref));
      return async () => {
        await unlessGone(client.delete(Lease, ref));
        if (!before) return;
        const { resourceVersion: _, uid: __, ...metadata } = before.metadata;
        await client.create<Lease>(Lease, { ...before, metadata });
      };
    },
    async stop() {
      for (const lock of made) lock.close();
    },
  };
});

describe('electors on a Lease', () => {
  function candidate(name: string, identity: string, candidacy?: LeaseCandidacy) {
    const ref = { namespace: 'kube-system', name };
    const lock = new LeaseResourceLock({ client, identity, ...ref, clock, candidacy });
    const stop = new AbortController();
    const elector = new LeaderElector({
      lock,
      callbacks: {
        onStartedLeading: (signal) =>
          new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
        onStoppedLeading: () => undefined,
        onNewLeader: () => undefined,
      },
      // So long that nothing but the news of the release can be the reason for another leader.
      options: { leaseDurationMs: 600_000, renewDeadlineMs: 500_000 },
    });
    const running = elector.run(stop.signal);
    return {
      elector,
      async stop() {
        stop.abort();
        await running;
        lock.close();
      },
    };
  }

  it('hand over when the leader stops, long before its lease ends', async () => {
    const name = `lease-${randomUUID()}`;
    const all = ['a', 'b', 'c'].map((identity) => candidate(name, identity));
    const leader = () => all.find(({ elector }) => elector.isLeader);
    const first = await waitFor(leader);
    await waitFor(() => all.every(({ elector }) => elector.leader !== ''));
    await first.stop();
    const second = await waitFor(leader);
    expect(second.elector.epoch).toBe(2);
    const { body } = await server.call(
      'GET',
      `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${name}`,
    );
    expect(body.spec).toMatchObject({
      holderIdentity: second.elector.identity,
      leaseDurationSeconds: 600,
      leaseTransitions: 2,
    });
    for (const each of all) if (each !== first) await each.stop();
  });

  it('are elected without coordination where the API knows no candidates', async () => {
    const leaseName = `lease-${randomUUID()}`;
    const candidacy = new LeaseCandidacy({
      ...{ client, clock, logger: silentLogger, namespace: 'kube-system', leaseName },
      ...{ name: 'a', version: '1.0.0' },
    });
    const standing = new AbortController();
    const ended = candidacy.run(standing.signal);
    const only = candidate(leaseName, 'a', candidacy);
    await waitFor(() => only.elector.isLeader, { what: 'a leader' });
    expect(await candidacy.isSupported()).toBe(false);
    await only.stop();
    standing.abort();
    await ended;
  });
});
