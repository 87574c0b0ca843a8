import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ElectionProcess, ElectionWorld } from './election-model.fixture.js';
import type { LinkFaults } from '../../testing/faulty-resource-lock.js';
import { NO_FAULTS } from '../../testing/faulty-resource-lock.js';
import { propertyRuns } from '../../testing/property-runs.js';

/*
 * Invariants for any number of electors, any faults of their messages, any pauses and any deaths:
 * 1. the epochs given to leading work only grow, across all electors, except for a term that continues with its lease;
 * 2. an elector never runs the work of two terms at once;
 * 3. the queue accepts no add of an older epoch after one of a newer epoch, and each epoch has one holder, although
 *    cancelled work continues to add for a while;
 * 4. once the faults stop and the messages in flight have arrived, there is a leader within lease + renew deadline (the
 *    timeout of a lost request) + one retry + the time that old work takes to end, and it adds again;
 * 5. at any moment at most one living process believes that it leads: without a witness always, with one as long as no
 *    living process loses its connections, also when the witness itself is replaced.
 *
 * If the store of the lease loses what it confirmed, an epoch may be given to two, and two may believe that they lead
 * until the next renewal. The rest holds: no elector's epochs decrease, and the queue accepts the adds of one.
 */
const LEASE_MS = 2500;
const RENEW_DEADLINE_MS = 1800;
const LONGEST_RETRY_MS = 880;
const PROCESSES = 3;

type Change =
  | { readonly kind: 'pause' | 'resume' | 'kill' | 'break link' | 'join' | 'exchange the witness' }
  | { readonly kind: 'keep the store' | 'set the store back' }
  | { readonly kind: 'link'; readonly faults: LinkFaults };

interface Event {
  readonly process: 'holder' | number;
  readonly afterMs: number;
  readonly change: Change;
}

const aLink: fc.Arbitrary<LinkFaults> = fc.oneof(
  fc.constant(NO_FAULTS),
  fc.constant({ ...NO_FAULTS, loseRequests: true }),
  fc.constant({ ...NO_FAULTS, loseAnswers: true }),
  fc.record({
    requestMs: fc.constantFrom(0, 0, 700, 2600),
    answerMs: fc.constantFrom(0, 1500, 1700, 2600),
    loseRequests: fc.constant(false),
    loseAnswers: fc.constant(false),
    loseWakes: fc.boolean(),
  }),
);

const anEvent = (...kinds: Exclude<Change['kind'], 'link'>[]): fc.Arbitrary<Event> =>
  fc.record({
    // The holder of the lease has most to lose.
    process: fc.constantFrom<'holder' | number>('holder', 'holder', ...Array(PROCESSES).keys()),
    afterMs: fc.integer({ min: 0, max: 1500 }),
    change: fc.oneof(
      { weight: kinds.length, arbitrary: fc.constantFrom(...kinds).map((kind): Change => ({ kind })) },
      { weight: 3, arbitrary: aLink.map((faults): Change => ({ kind: 'link', faults })) },
    ),
  });

/** Runs the model under the events; `isOneLeader`: whether invariant 5 applies. */
async function play(
  takeover: 'witness' | 'expiry',
  isOneLeader: boolean,
  storeGoesBack: boolean,
  links: readonly LinkFaults[],
  events: readonly Event[],
  workEndsAfterMs: number,
): Promise<ElectionWorld> {
  const world = new ElectionWorld({ takeover }, workEndsAfterMs);
  const all: ElectionProcess[] = [];
  const slots = links.map((faults) => {
    const process = new ElectionProcess(world);
    process.lock.faults = faults;
    all.push(process);
    return process;
  });
  const advance = async (ms: number): Promise<void> => {
    const endMs = world.clock.monotonicNow() + ms;
    while (world.clock.monotonicNow() < endMs) {
      await world.clock.advance(Math.min(50, endMs - world.clock.monotonicNow()));
      const leaders = all.filter(({ elector, isDead }) => !isDead && elector.isLeader);
      if (isOneLeader && leaders.length > 1)
        throw new Error(`${leaders.length} leaders at ${world.clock.monotonicNow()}`);
      expectEpochsToGrow(all, storeGoesBack);
      world.checkAccepted();
    }
  };

  let goBack = world.lease.saved();
  for (const { afterMs, change, process } of events) {
    await advance(afterMs);
    const slot =
      process === 'holder'
        ? slots.findIndex(({ elector }) => elector.identity === world.lease.holder)
        : process;
    const hit = slots[slot];
    if (change.kind === 'exchange the witness') world.presence.restart();
    else if (change.kind === 'keep the store') goBack = world.lease.saved();
    else if (change.kind === 'set the store back') goBack();
    else if (hit && change.kind === 'kill') {
      hit.kill();
      all.push((slots[slot] = new ElectionProcess(world)));
    } else if (hit) apply(hit, change);
  }

  for (const process of slots) process.heal();
  // A request in flight may still take the lease for a process that no longer waits for it.
  const underWayMs = 2600 + 2600;
  await advance(underWayMs + LEASE_MS + RENEW_DEADLINE_MS + LONGEST_RETRY_MS + workEndsAfterMs);
  const leaders = slots.filter(({ elector }) => elector.isLeader);
  expect(leaders).toHaveLength(1);
  world.accepted.length = 0;
  await advance(1000);
  expect(world.accepted.at(-1)?.holder).toBe(leaders[0]?.elector.identity);
  for (const process of slots) await process.end();
  expect(world.lease.holder).toBe('');
  return world;
}

describe('electors among themselves', () => {
  const { numRuns, seed } = propertyRuns({ gate: 12 });
  const runs: {
    name: string;
    takeover: 'witness' | 'expiry';
    isOneLeader: boolean;
    storeGoesBack?: boolean;
    event: fc.Arbitrary<Event>;
  }[] = [
    {
      name: 'by expiry alone: never lead two at a time',
      takeover: 'expiry',
      isOneLeader: true,
      event: anEvent('pause', 'resume', 'kill', 'break link', 'join'),
    },
    {
      name: 'with a witness: never lead two at a time while no connection of a living one breaks',
      takeover: 'witness',
      isOneLeader: true,
      event: anEvent('pause', 'resume', 'kill', 'exchange the witness', 'join'),
    },
    {
      name: 'with a witness: never add both, whatever breaks',
      takeover: 'witness',
      isOneLeader: false,
      event: anEvent('pause', 'resume', 'kill', 'break link', 'break link', 'join', 'exchange the witness'),
    },
    {
      name: 'on a store that goes back: never add both',
      takeover: 'witness',
      isOneLeader: false,
      storeGoesBack: true,
      event: anEvent('pause', 'resume', 'kill', 'keep the store', 'set the store back', 'set the store back'),
    },
  ];

  it.each(runs)(
    `$name, and one leads again when the faults stop (SEED=${seed})`,
    async ({ event, isOneLeader, storeGoesBack = false, takeover }) => {
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(aLink, { minLength: PROCESSES, maxLength: PROCESSES }),
          fc.array(event, { minLength: 10, maxLength: 30, size: 'max' }),
          fc.constantFrom(0, 300, 3000),
          async (links, events, workEndsAfterMs) => {
            refused += (await play(takeover, isOneLeader, storeGoesBack, links, events, workEndsAfterMs))
              .refused;
          },
        ),
        { seed, numRuns },
      );
      expect(refused, 'adds of former leaders did come').toBeGreaterThan(0);
    },
  );
});

function expectEpochsToGrow(processes: readonly ElectionProcess[], storeGoesBack: boolean): void {
  const seen = new Set<number>();
  for (const { epochs } of processes) {
    for (const [i, epoch] of epochs.entries()) {
      if (epoch < (epochs[i - 1] ?? 0)) throw new Error(`epochs go back: ${epochs.join(', ')}`);
      if (!storeGoesBack && epoch !== epochs[i - 1] && seen.has(epoch))
        throw new Error(`epoch ${epoch} was given to two`);
      seen.add(epoch);
    }
  }
}

function apply(process: ElectionProcess, change: Change): void {
  if (change.kind === 'pause') process.clock.pause();
  else if (change.kind === 'resume') process.clock.resume();
  else if (change.kind === 'break link') process.breakLink();
  else if (change.kind === 'join') process.join();
  else if (change.kind === 'link') process.lock.faults = change.faults;
}
