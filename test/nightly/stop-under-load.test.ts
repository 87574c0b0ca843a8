import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { untyped, Deployment, Event, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import type { EventObject } from '../../src/client/events/index.js';
import type { ReplicaLine } from '../../src/rollkeeper/replica/supervisor/status.js';
import { isNightly } from '../../src/testing/property-runs.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { Stillness } from '../e2e/support/stillness.js';
import { SharedUp } from '../e2e/support/shared-up.js';

const namespace = 'stopped';
/** `ROLLKEEPER_TEST_ROLLOUTS=50` for a machine that does nothing else. */
const DEPLOYMENT_COUNT = Number(process.env['ROLLKEEPER_TEST_ROLLOUTS'] ?? (isNightly ? 20 : 10));
const names = Array.from({ length: DEPLOYMENT_COUNT }, (_, index) => `web-${index}`);

describe('a replica that is asked to stop while it works', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let history: RolloutHistory;
  let image = 1;

  beforeAll(async () => {
    up = await SharedUp.take('killable');
    client = await up.client();
    await up.createNamespace(client, namespace);
    history = new RolloutHistory(client, namespace);
    await history.start();
    await Promise.all(
      names.map((name) => client.create(Deployment, aDeployment({ namespace, name, replicas: 4 }))),
    );
    await allRolledOut();
  });

  afterAll(async () => {
    await history.stop();
    await client.close();
    await up.give();
  });

  const rollOut = async (): Promise<void> => {
    const next = `web:${++image}`;
    const body = { spec: { template: { spec: { containers: [{ name: 'web', image: next }] } } } };
    await Promise.all(
      names.map((name) => client.patch(Deployment, { namespace, name }, { type: 'strategic', body })),
    );
  };
  const unfinished = async (): Promise<readonly Deployment[]> => {
    const { items } = await client.list<Deployment>(Deployment, { namespace });
    const isRolledOut = ({ metadata, spec, status }: Deployment): boolean =>
      status?.observedGeneration === metadata.generation &&
      status?.updatedReplicas === spec.replicas &&
      status?.replicas === spec.replicas &&
      status?.availableReplicas === spec.replicas;
    return items.filter((deployment) => !isRolledOut(deployment));
  };
  const allRolledOut = (): Promise<boolean> =>
    waitFor(async () => (await unfinished()).length === 0, {
      intervalMs: 50,
      what: 'all to be rolled out',
    });
  const isAlive = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  const isReady = async ({ adminUrl }: ReplicaLine): Promise<boolean> =>
    fetch(`${adminUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  /** Sends SIGTERM; tells, for people, after how long it said that it is not ready (if it was asked in time), and was gone. */
  const stop = async (replica: ReplicaLine): Promise<{ unreadyMs: number | undefined; goneMs: number }> => {
    const startedMs = performance.now();
    const sinceStart = (): number => Math.round(performance.now() - startedMs);
    process.kill(replica.pid, 'SIGTERM');
    const unready = waitFor<number | 'gone'>(
      async () => {
        const answer = await fetch(`${replica.adminUrl}/readyz`).catch(() => 'gone' as const);
        return answer === 'gone' ? answer : answer.status === 503 && sinceStart();
      },
      { intervalMs: 5 },
    );
    await waitFor(() => !isAlive(replica.pid), { what: 'it to end', intervalMs: 5 });
    const goneMs = sinceStart();
    const unreadyMs = await unready;
    return { unreadyMs: unreadyMs === 'gone' ? undefined : unreadyMs, goneMs };
  };
  const replicas = async (): Promise<readonly ReplicaLine[]> => (await up.status()).replicas;
  const allReady = () =>
    waitFor(
      async () => {
        const lines = await replicas();
        return lines.length === 3 && (await Promise.all(lines.map(isReady))).every(Boolean);
      },
      { intervalMs: 100, what: 'three replicas to be ready' },
    );

  /** The lines about replicas that began and ceased to lead, with their reasons. */
  const leadership = (sinceMs: number): string =>
    up
      .loggedBetween(sinceMs, Date.now())
      .split('\n')
      .filter((line) => line.includes('"message":"leadership"') && !line.includes('"why":"observed"'))
      .join('\n');

  it('is unready before it is gone, one after the other, and the others go on meanwhile', async () => {
    await allReady();
    const changes: number[] = [];
    const watching = new AbortController();
    const { resourceVersion } = await client.list(ReplicaSet, { namespace });
    const watch = async (): Promise<void> => {
      const options = { namespace, resourceVersion, timeoutSeconds: 300, idleTimeoutMs: 60_000 };
      for await (const event of client.watch(ReplicaSet, { ...options, signal: watching.signal }))
        if (event.type !== 'BOOKMARK') changes.push(performance.now());
    };
    const watched = watch().catch(() => undefined);
    const stillness = new Stillness(async () => `${(await unfinished()).length} not rolled out`);
    stillness.start();
    let isOver = false;
    const load = (async () => {
      while (!isOver) {
        await rollOut();
        await allRolledOut();
      }
    })();

    const stops: { leader: boolean; unreadyMs: number | undefined; goneMs: number; changes: number }[] = [];
    const stopWhileItWorks = async (which: () => Promise<ReplicaLine>): Promise<string> => {
      const changesBefore = changes.length;
      await waitFor(() => changes.length > changesBefore, { what: 'something to be under way' });
      const replica = await which();
      const changesThen = changes.length;
      const times = await stop(replica);
      await allReady();
      stops.push({ leader: replica.leader, ...times, changes: changes.length - changesThen });
      return replica.identity;
    };
    const beganMs = Date.now();
    // The leader first: on a starved machine another may lead by the time that it would have its turn.
    const first = await stopWhileItWorks(() => up.leader());
    for (const { identity } of (await replicas()).filter((replica) => replica.identity !== first))
      await stopWhileItWorks(
        async () => (await replicas()).find((line) => line.identity === identity) as ReplicaLine,
      );
    isOver = true;
    await load;
    await stillness.stop();
    watching.abort();
    await watched;
    const gaps = changes.slice(1).map((atMs, index) => atMs - (changes[index] as number));
    const longest = Math.max(...gaps);
    const stoodStillMs = changes[gaps.indexOf(longest)] as number;
    console.log(
      `stopped under load: ${JSON.stringify(stops)}; ${image - 1} × ${DEPLOYMENT_COUNT} rollouts, ` +
        `longest time without a change ${Math.round(longest)} ms\n${leadership(beganMs)}`,
    );
    const saw = stillness.between(stoodStillMs, stoodStillMs + longest);
    const sinceMs = performance.timeOrigin + stoodStillMs;
    const logged = up.loggedBetween(sinceMs - 1000, sinceMs + longest);
    const account = `since the last change, at ${new Date(sinceMs).toISOString()}:\n${saw}\n${logged}\n`;
    expect(stops.some(({ unreadyMs }) => unreadyMs !== undefined)).toBe(true);
    expect(stops[0]?.leader).toBe(true);
    // The rollouts follow each other without a break: while one replica stops, the others go on.
    for (const { changes: meanwhile } of stops) expect(meanwhile, account).toBeGreaterThan(0);
    expect(findViolations(history.events())).toEqual([]);
    // The sweep of the leader had nothing to find.
    const pages = await Promise.all(
      (await replicas()).map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()),
    );
    const lost = pages.join('\n').match(/^rollkeeper_unqueued_keys_total\{.*/gm) ?? [];
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.filter((line) => !line.endsWith(' 0'))).toEqual([]);
  });

  it('is gone also while the API server does not answer, and its keys go on elsewhere', async () => {
    await allReady();
    await rollOut();
    const { apiServer, replicas: lines } = await up.status();
    const apiServerPid = apiServer?.pid ?? 0;
    process.kill(apiServerPid, 'SIGSTOP');
    try {
      const { goneMs } = await stop(lines[0] as ReplicaLine);
      console.log(`stopped ${goneMs} ms after it was asked to, the API server hanging`);
    } finally {
      process.kill(apiServerPid, 'SIGCONT');
    }
    await allRolledOut();
    expect(findViolations(history.events())).toEqual([]);
  });

  const leaseEvents = async (): Promise<readonly EventObject[]> => {
    const { items } = await client.list<EventObject>(untyped(Event), { namespace: 'kube-system' });
    return items.filter(
      ({ involvedObject, reason }) => reason === 'LeaderElection' && involvedObject.kind === 'Lease',
    );
  };

  it('hands the lease over, and says so on its page and as an Event', async () => {
    await allReady();
    const before = new Set((await leaseEvents()).map(({ metadata }) => metadata.resourceVersion));
    const leader = await up.leader();
    const others = (await replicas()).filter(({ pid }) => pid !== leader.pid);
    process.kill(leader.pid, 'SIGTERM');
    const startedMs = performance.now();
    const pages = () =>
      Promise.all(
        others.map(async ({ adminUrl }) => {
          const answer = await fetch(`${adminUrl}/admin/leadership`);
          return (await answer.json()) as { leader: boolean; epoch: number; transitions: { why: string }[] };
        }),
      );
    const next = await waitFor(async () => (await pages()).find((page) => page.leader), { intervalMs: 5 });
    console.log(
      `another led ${Math.round(performance.now() - startedMs)} ms after the leader was asked to stop`,
    );
    expect(next.transitions.at(-1)?.why).toBe('started leading');
    await waitFor(
      async () => {
        const told = (await leaseEvents()).filter(({ metadata }) => !before.has(metadata.resourceVersion));
        return [/became leader/, /stopped leading/].every((what) =>
          told.some(({ message }) => what.test(message)),
        );
      },
      { what: 'the Events' },
    );
    await allReady();
  });
});
