import { beforeEach, describe, expect, it } from 'vitest';
import { aNotification } from './formats/notification.fixture.js';
import { Slots } from './slots.js';

/** The number of slots that there may be. */
const MOST = 5000;

describe('the slots of notifications', () => {
  let slots: Slots;

  beforeEach(() => {
    slots = new Slots();
  });

  /** Adds one of another Deployment. */
  function add(namespace: string, deployment: number): number {
    const uid = `${namespace}-${deployment}`;
    return slots.add('chat', aNotification({ namespace, uid, id: uid }));
  }

  it('are not all taken by one namespace: it gives one up for each that another one needs', () => {
    for (let deployment = 0; deployment < MOST; deployment++) expect(add('greedy', deployment)).toBe(0);
    expect(add('greedy', MOST), 'it gets no more').toBe(1);
    expect(add('shop', 0), 'one of the other was given up').toBe(1);
    expect(slots.take(0).map(({ namespace }) => namespace)).toContain('shop');
  });

  it('are tried in turn: one that failed and is due again comes behind those that wait', () => {
    // Each namespace may have four sockets, all of them 64.
    for (let place = 0; place < 17; place++)
      for (let deployment = 0; deployment < 4; deployment++) add(`ns-${place}`, deployment);
    const first = slots.take(0);
    expect(first).toHaveLength(64);
    for (const slot of first) slots.release(slot);
    expect(slots.take(0).filter(({ namespace }) => namespace === 'ns-16')).toHaveLength(4);
  });
});
