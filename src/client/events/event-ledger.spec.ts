import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { Event } from '../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import type { EventLedger, SeriesName, SimilarGroup } from './event-ledger.js';
import { aRecorder, about, note } from './event-recorder.fixture.js';

/** A ledger in memory. */
class Names implements EventLedger {
  private readonly names = new Map<string, string>();
  private readonly combined = new Set<string>();
  private readonly counts = new Map<string, number>();

  /** The groups that were counted. */
  readonly counted: string[] = [];

  async nameOf(series: string, proposed: string, within?: SimilarGroup): Promise<SeriesName> {
    if (this.combined.has(series)) return 'combined';
    const name = this.names.get(series) ?? proposed;
    this.names.set(series, name);
    const isNew = name === proposed;
    return { name, isNew, similar: isNew && within ? this.count(within) : 0 };
  }

  async combine(series: string): Promise<void> {
    this.combined.add(series);
  }

  private count({ group }: SimilarGroup): number {
    this.counted.push(group);
    const count = (this.counts.get(group) ?? 0) + 1;
    this.counts.set(group, count);
    return count;
  }
}

describe('recorders with a ledger', () => {
  function twoRecorders() {
    const clock = new FakeClock();
    const common = { clock, cluster: new FakeCluster(clock), ledger: new Names() };
    const first = aRecorder({}, { ...common, seed: 1 });
    const second = aRecorder({}, { ...common, seed: 2 });
    void first.start();
    void second.start();
    return { ...common, first, second, events: first.events };
  }

  it('counts equal events of two recorders together, whoever records them', async () => {
    const { clock, events, first, second } = twoRecorders();
    for (const { recorder } of [first, second, second, first, second, first]) {
      recorder.record(about, note());
      await clock.advance(1000);
    }
    expect(events()).toMatchObject([
      { count: 6, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:05Z' },
    ]);
  });

  it('counts events that two recorders write at the same moment', async () => {
    const { clock, events, first, second } = twoRecorders();
    for (let round = 0; round < 3; round++) {
      first.recorder.record(about, note());
      second.recorder.record(about, note());
      await clock.advance(1000);
    }
    await clock.advance(10_000);
    expect(events()).toMatchObject([{ count: 6 }]);
  });

  it('combines similar events once the recorders together have ten', async () => {
    const { clock, events, first, second } = twoRecorders();
    for (let pod = 1; pod <= 12; pod++) {
      (pod % 2 === 0 ? first : second).recorder.record(about, note(`Created pod: ${pod}`));
      await clock.advance(1000);
    }
    const messages = events().map(({ count, message }) => `${count} ${message}`);
    expect(messages).toHaveLength(10);
    expect(messages.at(-1)).toBe('3 (combined from similar events): Created pod: 12');
  });

  it('sends one request for each combined event of a recorder that has read the Event once', async () => {
    const { clock, cluster, events, first, second } = twoRecorders();
    for (let pod = 1; pod <= 10; pod++) {
      first.recorder.record(about, note(`Created pod: ${pod}`));
      await clock.advance(1000);
    }
    const before = cluster.requests.length;
    for (let pod = 11; pod <= 14; pod++) {
      second.recorder.record(about, note(`Created pod: ${pod}`));
      await clock.advance(1000);
    }
    expect(cluster.requests.length - before).toBe(5);
    expect(events().at(-1)).toMatchObject({
      count: 5,
      message: '(combined from similar events): Created pod: 14',
    });
  });

  it('writes together the combined events that wait for each other', async () => {
    const { clock, cluster, events, first, second } = twoRecorders();
    for (let pod = 1; pod <= 10; pod++) first.recorder.record(about, note(`Created pod: ${pod}`));
    await clock.advance(1000);
    const before = cluster.requests.length;
    second.recorder.record(about, note('Created pod: 11'));
    await clock.advance(1000);
    for (let pod = 12; pod <= 20; pod++) second.recorder.record(about, note(`Created pod: ${pod}`));
    await clock.advance(1000);
    expect(cluster.requests.length - before).toBe(3);
    expect(events().at(-1)).toMatchObject({
      count: 11,
      message: '(combined from similar events): Created pod: 20',
    });
  });

  it('writes a series that one recorder has combined to the same Event, even if another recorder continues it', async () => {
    const { clock, cluster, events, first, ledger, second } = twoRecorders();
    for (let pod = 1; pod <= 10; pod++) {
      (pod % 2 === 0 ? first : second).recorder.record(about, note(`Created pod: ${pod}`));
      await clock.advance(1000);
    }
    second.recorder.record(about, note('Created pod: 10'));
    await clock.advance(1000);
    const restarted = aRecorder({}, { clock, cluster, ledger, seed: 3 });
    void restarted.start();
    restarted.recorder.record(about, note('Created pod: 10'));
    await clock.advance(1000);
    const messages = events().map(({ count, message }) => `${count} ${message}`);
    expect(messages.slice(9)).toEqual(['3 (combined from similar events): Created pod: 10']);
  });

  it('goes on counting after a restart, and needs no right to read', async () => {
    const { clock, cluster, events, first, ledger } = twoRecorders();
    first.recorder.record(about, note());
    await clock.advance(0);
    const restarted = aRecorder({}, { clock, cluster, ledger, seed: 3 });
    void restarted.start();
    restarted.recorder.record(about, note());
    await clock.advance(0);
    expect(events()).toMatchObject([{ count: 2 }]);
    expect(new Set(cluster.requests.map(({ verb }) => verb))).toEqual(new Set(['create', 'patch']));
  });

  it('writes an expired Event of another recorder again, under its name', async () => {
    const { clock, cluster, events, first, second } = twoRecorders();
    first.recorder.record(about, note());
    await clock.advance(0);
    const { name } = events()[0]!.metadata;
    cluster.vanish(Event, `default/${name}`);
    second.recorder.record(about, note());
    await clock.advance(0);
    expect(events()).toMatchObject([{ count: 1, metadata: { name } }]);
  });

  it('counts once what was written although its answer was lost', async () => {
    const { clock, cluster, events, first } = twoRecorders();
    first.recorder.record(about, note());
    await clock.advance(1000);
    const patch = cluster.patch.bind(cluster);
    let lost = 1;
    cluster.patch = async (...request) => {
      const answer = await patch(...request);
      if (lost-- > 0) throw new Error('connection reset');
      return answer as never;
    };
    first.recorder.record(about, note());
    await clock.advance(10_000);
    expect(events()).toMatchObject([{ count: 2 }]);
  });

  it('keeps the name of another recorder although the server did not answer when it was read', async () => {
    const { clock, cluster, events, first, ledger, second } = twoRecorders();
    first.recorder.record(about, note());
    await clock.advance(1000);
    const counted = ledger.counted.length;
    const patch = cluster.patch.bind(cluster);
    let failures = 1;
    cluster.patch = async (...request) => {
      if (failures-- > 0) throw new Error('connection reset');
      const answer = await patch(...request);
      return answer as never;
    };
    second.recorder.record(about, note());
    await clock.advance(60_000);
    expect(events()).toMatchObject([{ count: 2 }]);
    expect(ledger.counted).toHaveLength(counted);
  });

  it('records what it should although the ledger does not answer', async () => {
    const clock = new FakeClock();
    const away = () => Promise.reject(new Error('no connection'));
    const ledger = { nameOf: away, combine: away };
    const { events, recorder, start } = aRecorder({}, { clock, ledger });
    void start();
    recorder.record(about, note());
    recorder.record(about, note());
    await clock.advance(0);
    expect(events()).toMatchObject([{ count: 2 }]);
  });
});
