import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { RollkeeperError } from '../../../machinery/errors/index.js';
import type { FeedEvent } from './feed-events.js';
import { SlotFeed } from './slot-feed.js';

const OWNER = { identity: 'r1', slots: 1, peer: { identity: 'r1', adminUrl: '', pid: 1, startedAtMs: 0 } };
const NO_COUNTS = { waiting: 0, active: 0, delayed: 0, parked: 0 };

/** As {@link PeerClient.events} fails with status 401. */
class Refusal extends RollkeeperError {
  readonly code = 'CREDENTIAL_REFUSED';
}

describe('the console of one viewer from several replicas', () => {
  let clock: FakeClock;
  let sent: FeedEvent[];
  let leave: AbortController;

  beforeEach(() => {
    clock = new FakeClock();
    sent = [];
    leave = new AbortController();
    return () => leave.abort();
  });

  /** @param answer the events of each stream of the other replica, by its number */
  function look(answer: (stream: number) => readonly unknown[]): {
    readonly feed: SlotFeed;
    streams: number;
  } {
    const looked = { feed: undefined as unknown as SlotFeed, streams: 0 };
    async function* events(_peer: unknown, _asked: unknown, signal: AbortSignal): AsyncGenerator<unknown> {
      yield* answer(++looked.streams);
      await clock.sleep(3_600_000, signal).catch(() => undefined);
    }
    looked.feed = new SlotFeed({
      clock,
      pass: {},
      others: { client: { events } as never },
      replicas: { owners: async () => [OWNER], unowned: () => 0 },
      viewer: { send: (event) => void sent.push(event), drained: async () => undefined },
    });
    void looked.feed.run(leave.signal);
    return looked;
  }
  const passes = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) await clock.advance(500);
  };
  const problems = (): string[] =>
    sent.flatMap((event) => (event.type === 'missing' ? event.replicas.map(({ problem }) => problem) : []));

  it('asks a replica that has refused the credential of the viewer no more than once in ten minutes', async () => {
    const looked = look(() => {
      throw new Refusal('sign in again');
    });
    await passes(300_000);
    expect(looked.streams).toBe(1);
    expect(problems()).toEqual(['sign in again']);
  });

  it('asks a replica whose stream breaks off again after a second', async () => {
    const looked = look(() => {
      throw new Error('socket hang up');
    });
    await passes(10_000);
    expect(looked.streams).toBeGreaterThan(5);
  });

  it.each([
    ['no list of queues', { type: 'queues', queues: [null] }],
    ['queues without counts', { type: 'queues', queues: [{ controller: 'deployment', parked: [] }] }],
    ['keys that are no text', { type: 'deployments', changed: [], gone: [5] }],
    ['rows without a key', { type: 'deployments', changed: [{}], gone: [] }],
    ['no type', { queues: [] }],
  ])('names a replica that answers with %s, and goes on to show its own', async (_what, told) => {
    const { feed } = look((stream) => (stream === 1 ? [told] : []));
    await passes(500);
    expect(problems()).toEqual(['it answers with something else than events of the console']);
    const queues = [{ controller: 'deployment', counts: NO_COUNTS, parked: [] }];
    feed.send({ type: 'cluster', nowMs: 0, cluster: {} as never, queues });
    expect(sent.at(-1)).toMatchObject({ type: 'cluster', queues });
    expect(sent.filter(({ type }) => type === 'deployments')).toEqual([]);
  });
});
