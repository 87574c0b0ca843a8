import { describe, expect, it } from 'vitest';
import { FakeClock, toRfc3339 } from '../../../machinery/clock/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { MemoryStorage } from '../../storage/index.js';
import { EventExpiry } from './event-expiry.js';

const HOUR = 3_600_000;

function anEvent(name: string, times: object) {
  return { apiVersion: 'v1', kind: 'Event', metadata: { name, namespace: 'default' }, ...times };
}

describe('EventExpiry', () => {
  it('removes events that were last seen more than an hour ago, and no others', async () => {
    const clock = new FakeClock();
    const storage = new MemoryStorage({ clock });
    const old = toRfc3339(clock.now() - HOUR - 1000);
    const recent = toRfc3339(clock.now() - HOUR + 60_000);
    const events = {
      old: { lastTimestamp: old },
      recent: { lastTimestamp: recent },
      seenAgain: { lastTimestamp: old, series: { lastObservedTime: recent } },
      newStyle: { eventTime: recent },
    };
    for (const [name, times] of Object.entries(events)) {
      await storage.create({ resource: 'events', namespace: 'default', name }, anEvent(name, times));
    }
    expect(await new EventExpiry({ storage, clock, logger: silentLogger }).sweep()).toBe(1);
    const left = await storage.list('events');
    expect(left.items.map(({ object }) => object.metadata.name)).toEqual(['newStyle', 'recent', 'seenAgain']);
  });
});
