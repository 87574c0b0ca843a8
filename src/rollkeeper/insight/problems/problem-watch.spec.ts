import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { PersistentVolumeClaim } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import type { Diagnosis } from '../diagnose/index.js';
import { replicaProblems } from '../diagnose/index.js';
import { lookForProblems, readReportedProblems } from './look-for-problems.js';
import type { LookResult } from './problem-watch.js';
import { ProblemWatch } from './problem-watch.js';

const INTERVAL_MS = 30_000;

function aWatch(namespaces: readonly string[] = []) {
  const clock = new FakeClock();
  const cluster = new FakeCluster(clock);
  const claim = (name: string, namespace: string, phase: string) =>
    cluster.seed(PersistentVolumeClaim, {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      metadata: { name, namespace, uid: `uid-${name}` },
      ...{ spec: {}, status: { phase } },
    });
  let leads = true;
  const events: string[] = [];
  const besides: Diagnosis[] = [];
  const looks: LookResult[] = [];
  const stop = new AbortController();
  const watch = new ProblemWatch({
    look: (signal) =>
      lookForProblems(cluster, namespaces, { nowMs: clock.now(), signal, beside: async () => besides }),
    reported: (signal) => readReportedProblems(cluster, namespaces, signal),
    events: {
      record: ({ kind, metadata }, { message, reason, type }) =>
        void events.push(`${kind} ${metadata.name}: ${type} ${reason} ${message}`),
    },
    ...{ isLeader: () => leads, intervalMs: INTERVAL_MS, clock, logger: silentLogger },
    onLook: (look) => void looks.push(look),
  });
  const running = watch.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return {
    besides,
    clock,
    cluster,
    claim,
    watch,
    events,
    looks,
    end,
    lead: (now: boolean) => void (leads = now),
  };
}

/** A replica that hangs, as the others see it. */
const HUNG = replicaProblems([{ identity: 'rk_2', adminUrl: '', reachable: false, problem: 'no answer' }]);

describe('the watch for problems', () => {
  it('reports and counts a replica that hangs as it does objects, once for all namespaces', async () => {
    const { besides, clock, end, events, watch } = aWatch(['shop', 'bank']);
    besides.push(...HUNG);
    await clock.advance(INTERVAL_MS * 5);
    expect(events).toEqual([
      expect.stringMatching(
        /^Replica rk_2: Warning ReplicaSilent it does not answer: no answer\. What helps: /,
      ),
    ]);
    expect(watch.counts()).toMatchObject([{ kind: 'Replica', cause: 'replica-silent', count: 1 }]);
    besides.length = 0;
    await clock.advance(INTERVAL_MS * 3);
    expect(events[1]).toMatch(/^Replica rk_2: Normal ProblemSolved ReplicaSilent is over/);
    await end();
  });

  it('reports a problem once, counts it while it stands, and reports its end', async () => {
    const { claim, clock, end, events, watch } = aWatch();
    claim('data', 'shop', 'Lost');
    await clock.advance(INTERVAL_MS * 5);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatch(/^PersistentVolumeClaim data: Warning ClaimLost .*What helps: /);
    expect(watch.counts()).toMatchObject([{ kind: 'PersistentVolumeClaim', cause: 'claim-lost', count: 1 }]);
    claim('data', 'shop', 'Bound');
    await clock.advance(INTERVAL_MS * 3);
    expect(events[1]).toMatch(/^PersistentVolumeClaim data: Normal ProblemSolved ClaimLost is over/);
    expect(watch.counts()).toEqual([]);
    await end();
    expect(clock.pendingTimers).toBe(0);
  });

  it('is the leader’s alone: another replica asks nothing and counts nothing', async () => {
    const { claim, clock, cluster, end, events, lead, watch } = aWatch();
    lead(false);
    claim('data', 'shop', 'Lost');
    await clock.advance(INTERVAL_MS * 3);
    const before = cluster.requests.length;
    await clock.advance(INTERVAL_MS * 3);
    expect(cluster.requests.length).toBe(before);
    expect({ counts: watch.counts(), events }).toEqual({ counts: undefined, events: [] });
    lead(true);
    await clock.advance(INTERVAL_MS * 2);
    expect(events).toHaveLength(1);
    await end();
  });

  it('looks at its namespaces alone, and lists nothing of the cluster', async () => {
    const { claim, clock, cluster, end, events } = aWatch(['shop']);
    claim('data', 'shop', 'Lost');
    claim('other', 'secret', 'Lost');
    await clock.advance(INTERVAL_MS * 3);
    expect(new Set(cluster.requests.map(({ key }) => key))).toEqual(new Set(['shop']));
    expect(events.map((event) => event.split(':')[0])).toEqual(['PersistentVolumeClaim data']);
    await end();
  });

  it('goes on after a look that failed, and keeps what it knew', async () => {
    const { claim, clock, cluster, end, events, looks } = aWatch();
    claim('data', 'shop', 'Lost');
    await clock.advance(INTERVAL_MS * 2);
    cluster.intercept = () => new Error('connection refused');
    await clock.advance(INTERVAL_MS * 3);
    expect(looks.some(({ result }) => result === 'failed')).toBe(true);
    cluster.intercept = () => undefined;
    await clock.advance(INTERVAL_MS * 3);
    expect(events).toHaveLength(1);
    await end();
  });

  it('says what its looks cost, and looks less often where they take long', async () => {
    const { clock, cluster, end, looks } = aWatch();
    await clock.advance(0);
    const [first] = looks;
    expect(first).toMatchObject({ result: 'done', reads: { caches: 0 } });
    expect(first?.result === 'done' && first.reads.api).toBeGreaterThan(10);
    const list = cluster.list.bind(cluster);
    cluster.list = async (...args: Parameters<typeof list>) => {
      await clock.sleep(10_000);
      return list(...args);
    };
    const before = looks.length;
    await clock.advance(INTERVAL_MS * 10);
    expect(looks.length - before).toBeLessThan(6);
    await end();
  });

  it.each([
    ['answers again after 25 s', false],
    ['breaks the connection after 25 s', true],
  ])('reports a problem within two looks after the API server has hung, and %s', async (_name, breaks) => {
    const { claim, clock, cluster, end, events } = aWatch();
    await clock.advance(INTERVAL_MS);
    const list = cluster.list.bind(cluster);
    const hung = clock.sleep(25_000 + INTERVAL_MS);
    cluster.list = async (...args: Parameters<typeof list>) => {
      await hung;
      if (breaks) throw new Error('socket hang up');
      return list(...args);
    };
    await clock.advance(25_000 + INTERVAL_MS);
    cluster.list = list;
    claim('data', 'shop', 'Lost');
    await clock.advance(INTERVAL_MS * 3);
    expect(events).toHaveLength(1);
    await end();
  });
});
