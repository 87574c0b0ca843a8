import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../client/api-client/index.js';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import { Lease, LeaseCandidate } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { ElectionCoordinator } from './election-coordinator.fixture.js';
import { MemoryHolderWitness, MemoryPresence } from '../../testing/fake-holder-witness.js';
import { WatchableCluster } from '../../testing/fake-list-watch.js';
import { LeaderElector } from './leader-elector.js';
import { LeaseCandidacy } from './lease-candidate.js';
import { LeaseResourceLock } from './lease-resource-lock.js';

const REF = { namespace: 'ns', name: 'leader' };

describe('a coordinated election', () => {
  let clock: FakeClock;
  let cluster: WatchableCluster;
  let presence: MemoryPresence;
  let over: AbortController;
  let epochs: number[];
  let all: Candidate[];

  class Candidate {
    readonly elector: LeaderElector;
    readonly stop = new AbortController();
    readonly history: string[] = [];
    workEndsAfterMs = 0;
    private isDead = false;
    private readonly running: Promise<unknown>;

    constructor(
      readonly name: string,
      version: string,
    ) {
      const client = this.client();
      const candidacy = new LeaseCandidacy({
        ...{ client, name, version, clock, namespace: REF.namespace, leaseName: REF.name },
        logger: silentLogger,
      });
      this.elector = new LeaderElector({
        lock: new LeaseResourceLock({ client, identity: name, clock, ...REF, candidacy }),
        witness: new MemoryHolderWitness(name, presence),
        clock,
        random: new SeededRandom(1),
        callbacks: {
          onStartedLeading: async (signal, epoch) => {
            epochs.push(epoch);
            this.history.push(`leads ${epoch}`);
            await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
            await clock.sleep(this.workEndsAfterMs);
            this.history.push('ended');
          },
          onStoppedLeading: (reason) => this.history.push(reason.message),
          onNewLeader: () => undefined,
        },
      });
      const standing = new AbortController();
      this.running = Promise.all([
        candidacy.run(standing.signal),
        this.elector.run(this.stop.signal).finally(() => standing.abort()),
      ]);
      all.push(this);
    }

    /** Messages to and from it are lost from now on. */
    die(): void {
      this.isDead = true;
      presence.hide(this.name);
    }

    async end(): Promise<void> {
      this.isDead = false;
      this.stop.abort();
      await clock.advance(3000);
      await this.running;
    }

    private client(): WatchableCluster {
      const never = new Promise<never>(() => undefined);
      return new Proxy(cluster, {
        get: (target, property) => {
          const value = Reflect.get(target, property, target) as unknown;
          if (typeof value !== 'function') return value;
          return (...args: unknown[]) => (this.isDead ? never : (value.apply(target, args) as unknown));
        },
      });
    }
  }

  const lease = (): Lease | undefined => cluster.peek<Lease>(Lease, 'ns/leader');
  const leaders = (): string[] => all.filter(({ elector }) => elector.isLeader).map(({ name }) => name);
  /** Time from now until it leads; there are never two leaders. */
  async function untilLeads(name: string, withinMs = 60_000): Promise<number> {
    const since = clock.monotonicNow();
    while (!leaders().includes(name) && clock.monotonicNow() - since < withinMs) await pass(20);
    expect(leaders()).toEqual([name]);
    return clock.monotonicNow() - since;
  }
  async function pass(ms: number): Promise<void> {
    const endMs = clock.monotonicNow() + ms;
    while (clock.monotonicNow() < endMs) {
      await clock.advance(20);
      expect(leaders().length).toBeLessThanOrEqual(1);
    }
  }
  const coordinate = (): void => void new ElectionCoordinator(cluster, clock, REF).run(over.signal);

  beforeEach(() => {
    clock = new FakeClock();
    cluster = new WatchableCluster(clock);
    presence = new MemoryPresence();
    over = new AbortController();
    epochs = [];
    all = [];
  });

  afterEach(async () => {
    over.abort();
    for (const candidate of all) if (!candidate.stop.signal.aborted) await candidate.end();
    expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
  });

  it('is stood for with our release, and withdrawn from with a clean stop', async () => {
    coordinate();
    const a = new Candidate('a', '1.2.0');
    await untilLeads('a', 2000);
    expect(cluster.peek<LeaseCandidate>(LeaseCandidate, 'ns/a')?.spec).toMatchObject({
      leaseName: 'leader',
      binaryVersion: '1.2.0',
      emulationVersion: '1.2.0',
      strategy: 'OldestEmulationVersion',
    });
    expect(lease()?.spec).toMatchObject({ holderIdentity: 'a', strategy: 'OldestEmulationVersion' });
    await a.end();
    expect(cluster.all(LeaseCandidate)).toEqual([]);
    expect(lease()?.spec?.holderIdentity).toBe('');
  });

  it('goes to the oldest release, which keeps it for as long as it is there', async () => {
    coordinate();
    for (const version of ['1.2.0', '1.10.0', '1.9.0']) new Candidate(`of-${version}`, version);
    await untilLeads('of-1.2.0');
    await pass(120_000);
    expect(leaders()).toEqual(['of-1.2.0']);
    await all[0]?.end();
    await untilLeads('of-1.9.0');
    await all[2]?.end();
    await untilLeads('of-1.10.0');
    expect(epochs).toEqual([1, 2, 3]);
  });

  it('goes over to an older release that comes later, after the work of the newer has ended', async () => {
    coordinate();
    const newer = new Candidate('newer', '2.0.0');
    await untilLeads('newer');
    newer.workEndsAfterMs = 700;
    await pass(10_000);
    new Candidate('older', '1.0.0');
    const tookMs = await untilLeads('older');
    // Candidates answer first, and the lease is released: it does not have to expire.
    expect(tookMs).toBeLessThan(3000);
    expect(newer.history.slice(0, 3)).toEqual(['leads 1', 'ended', 'another replica is to take the lease']);
    await pass(60_000);
    expect(newer.history).toHaveLength(3);
  });

  it('answers when it is asked whether it is there', async () => {
    coordinate();
    new Candidate('a', '1.0.0');
    await untilLeads('a');
    await pass(60_000);
    const asked = cluster.peek<LeaseCandidate>(LeaseCandidate, 'ns/a') as LeaseCandidate;
    const pingTime = new Date(clock.now()).toISOString();
    await cluster.update(LeaseCandidate, { ...asked, spec: { ...asked.spec, pingTime } });
    await pass(20);
    const { spec } = cluster.peek<LeaseCandidate>(LeaseCandidate, 'ns/a') as LeaseCandidate;
    expect(Date.parse(spec.renewTime ?? '')).toBeGreaterThanOrEqual(Date.parse(pingTime));
  });

  it('stands again when its candidate was deleted', async () => {
    coordinate();
    new Candidate('a', '1.0.0');
    await untilLeads('a');
    cluster.vanish(LeaseCandidate, 'ns/a');
    await pass(100);
    expect(cluster.all(LeaseCandidate)).toHaveLength(1);
  });

  it('replaces a leader that dies by who is there, as soon as it is seen to be gone', async () => {
    coordinate();
    const a = new Candidate('a', '1.0.0');
    new Candidate('b', '1.1.0');
    await untilLeads('a');
    await pass(60_000);
    a.die();
    all.shift();
    // Found dead, the lease is released, and then the coordinator waits 5 s for the dead candidate's answer.
    const tookMs = await untilLeads('b');
    expect(tookMs).toBeLessThan(6500);
  });

  it('begins a new term where its lease ran out and nobody else was named', async () => {
    coordinate();
    new Candidate('a', '1.0.0');
    await untilLeads('a');
    cluster.intercept = ({ type, verb }) =>
      type === Lease && verb !== 'list' ? new Error('the API is away') : undefined;
    await pass(8000);
    expect(leaders()).toEqual([]);
    cluster.intercept = () => undefined;
    await untilLeads('a');
    expect(epochs).toEqual([1, 2]);
  });

  it('is done without, where the API knows no candidates', async () => {
    cluster.intercept = ({ type }) =>
      type === LeaseCandidate
        ? new ApiStatusError({ code: 404, reason: 'NotFound', message: 'the server could not find it' })
        : undefined;
    new Candidate('a', '2.0.0');
    await untilLeads('a', 1000);
    new Candidate('b', '1.0.0');
    await pass(60_000);
    expect(leaders()).toEqual(['a']);
    expect(lease()?.spec?.strategy).toBeUndefined();
  });

  it('is done without, after a while, where nobody coordinates', async () => {
    new Candidate('a', '1.0.0');
    await pass(5900);
    expect(leaders()).toEqual([]);
    await untilLeads('a', 2000);
    await pass(60_000);
    expect(leaders()).toEqual(['a']);
    // And steps down as soon as there is a coordinator.
    coordinate();
    new Candidate('older', '0.9.0');
    await untilLeads('older', 3000);
  });
});
