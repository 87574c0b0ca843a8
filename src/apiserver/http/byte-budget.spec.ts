import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { ByteBudget } from './byte-budget.js';
import type { Reservation } from './byte-budget.js';

const NEVER = new AbortController().signal;

describe('ByteBudget', () => {
  let clock: FakeClock;
  let budget: ByteBudget;
  let gone: string[];

  beforeEach(() => {
    clock = new FakeClock();
    gone = [];
    // Three quarters are a hundred, and what is small is one.
    budget = new ByteBudget({ limit: 134, clock, patienceMs: 1000, stallMs: 30_000 });
  });

  const holder = (name: string, flow = 'ann') => ({ flow, giveUp: () => void gone.push(name) });
  const reserve = (length: number, name: string, flow?: string): Promise<Reservation> =>
    budget.reserve(length, holder(name, flow), NEVER);

  it('lets wait who finds no room, and serves the smallest first', async () => {
    const first = await reserve(95, 'first');
    const order: string[] = [];
    const second = reserve(60, 'second').then((room) => (order.push('second'), room));
    const third = reserve(10, 'third').then((room) => (order.push('third'), room));
    expect(budget.tryReserve(10, holder('sly'))).toBeUndefined();
    first.release();
    await Promise.all([second, third]);
    expect(order).toEqual(['third', 'second']);
    expect(budget.length).toBe(70);
  });

  it('serves equal demands in the order of their coming', async () => {
    const first = await reserve(100, 'first');
    const order: number[] = [];
    const others = [1, 2, 3].map((number) => reserve(30, 'other').then(() => order.push(number)));
    first.release();
    await Promise.all(others);
    expect(order).toEqual([1, 2, 3]);
  });

  it('keeps some room for small demands, whatever the large ones hold', async () => {
    await reserve(100, 'large');
    void reserve(30, 'waiting');
    expect(budget.tryReserve(1, holder('small'))).toBeDefined();
  });

  it('gives more than there is to who is alone', async () => {
    const large = await reserve(1000, 'large');
    let isServed = false;
    const next = reserve(1, 'next').then((room) => ((isServed = true), room));
    await clock.advance(10);
    expect(isServed).toBe(false);
    large.release();
    await next;
    expect(budget.length).toBe(1);
  });

  it('makes those give way who have come forward longest ago, as many as others need', async () => {
    await reserve(40, 'oldest');
    await clock.advance(100);
    const moving = await reserve(30, 'moving');
    await clock.advance(100);
    await reserve(30, 'newest');
    await clock.advance(3000);
    expect(gone).toEqual([]);
    moving.progress(10);
    const slow = budget.tryReserve(0, holder('slow'));
    slow?.progress(1);
    moving.progress(100_000);
    const wanting = reserve(50, 'wanting');
    await clock.advance(1000);
    await wanting;
    expect(gone).toEqual(['oldest', 'newest']);
  });

  it('leaves alone a request that no one can hold up any longer', async () => {
    const settled = await reserve(100, 'settled');
    settled.settle();
    let isServed = false;
    const wanting = reserve(2, 'wanting').then(() => (isServed = true));
    await clock.advance(60_000);
    expect({ gone, isServed }).toEqual({ gone: [], isServed: false });
    settled.release();
    await wanting;
  });

  it('ends a request that stands still for long, even if no one waits', async () => {
    await reserve(10, 'still');
    await clock.advance(29_000);
    expect(gone).toEqual([]);
    await clock.advance(2000);
    expect(gone).toEqual(['still']);
    expect(budget.length).toBe(0);
  });

  it('forgets who leaves the line', async () => {
    const room = await reserve(100, 'room');
    const leaving = new AbortController();
    const waiting = budget.reserve(100, holder('leaving'), leaving.signal);
    const behind = reserve(1, 'behind');
    leaving.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    room.release();
    await behind;
    expect(budget.length).toBe(1);
  });

  it('has room for a flow below its share, however much another one holds and wants', async () => {
    await reserve(100, 'much', 'mal');
    for (let i = 0; i < 50; i++) void reserve(1, 'more', 'mal');
    for (let i = 0; i < 50; i++) void reserve(30, 'more', 'mal');
    expect(budget.tryReserve(10, holder('large', 'vic'))).toBeUndefined();
    expect(budget.tryReserve(8, holder('page', 'vic'))).toBeDefined();
    expect(budget.tryReserve(1, holder('small', 'vic'))).toBeDefined();
  });

  it('serves the flow that holds least first, and a flow its smallest demand first', async () => {
    const first = await reserve(100, 'first', 'mal');
    const order: string[] = [];
    const wait = (length: number, name: string, flow: string): Promise<unknown> =>
      reserve(length, name, flow).then(() => order.push(name));
    const waits = [
      wait(20, 'mal 20', 'mal'),
      wait(21, 'mal 21', 'mal'),
      wait(22, 'vic 22', 'vic'),
      wait(23, 'vic 23', 'vic'),
    ];
    first.release();
    await Promise.all(waits);
    // Each is served where it holds less than the other: mal 0, vic 0, mal 20, vic 22.
    expect(order).toEqual(['mal 20', 'vic 22', 'mal 21', 'vic 23']);
  });

  it('ends answers of a flow beyond its share before those of one below, though they are newer', async () => {
    await reserve(10, 'slow reader', 'vic');
    await clock.advance(500);
    await reserve(90, 'hoarder', 'mal');
    await clock.advance(5000);
    void reserve(40, 'wanting', 'bob');
    void reserve(40, 'wanting more', 'mal');
    await clock.advance(1000);
    expect(gone).toEqual(['hoarder']);
  });

  it('leaves a newcomer room among any number of flows that hold all they get', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 4 }),
        async (flows, length) => {
          const tested = new ByteBudget({ limit: 1000, clock: new FakeClock(), patienceMs: 1, stallMs: 1 });
          let isGiven = true;
          while (isGiven) {
            isGiven = false;
            for (let flow = 0; flow < flows; flow++)
              if (tested.tryReserve(length, holder('x', `flow ${flow}`))) isGiven = true;
          }
          expect(tested.tryReserve(length, holder('newcomer', 'newcomer'))).toBeDefined();
          await Promise.resolve();
        },
      ),
    );
  });

  it('never holds more than the limit, unless one alone does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 150 }), fc.nat(5), fc.constantFrom('a', 'b', 'c')), {
          maxLength: 40,
        }),
        async (demands) => {
          const tested = new ByteBudget({ limit: 100, clock: new FakeClock(), patienceMs: 1, stallMs: 1 });
          const held: Reservation[] = [];
          for (const [length, releases, flow] of demands) {
            void tested.reserve(length, holder('x', flow), NEVER).then((room) => held.push(room));
            await Promise.resolve();
            for (let i = 0; i < releases; i++) held.shift()?.release();
            await Promise.resolve();
            expect(tested.length <= 100 || held.length === 1).toBe(true);
          }
          while (held.length > 0) {
            held.shift()?.release();
            await Promise.resolve();
          }
          expect(tested.length).toBe(0);
        },
      ),
    );
  });
});
