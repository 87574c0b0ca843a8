import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { Connections } from './connections.js';
import type { Connected } from './connections.js';

class FakeSocket implements Connected {
  destroyed = false;
  private readonly closed: (() => void)[] = [];

  constructor(
    readonly remoteAddress: string | undefined,
    readonly remotePort: number,
  ) {}

  once(_event: string, listener: () => void): this {
    this.closed.push(listener);
    return this;
  }

  destroy(): this {
    this.destroyed = true;
    for (const listener of this.closed.splice(0)) listener();
    return this;
  }
}

function setUp(limits: { most?: number; mostUnknownPerAddress?: number } = {}) {
  const clock = new FakeClock();
  const connections = new Connections({
    clock,
    most: limits.most ?? 100,
    mostUnknownPerAddress: limits.mostUnknownPerAddress ?? 100,
    unknownIdleMs: 5000,
  });
  let port = 0;
  const open = (address = '10.0.0.1'): FakeSocket => {
    const socket = new FakeSocket(address, ++port);
    connections.opened(socket);
    return socket;
  };
  const answer = (socket: FakeSocket, user?: string): void => {
    connections.began(socket);
    if (user !== undefined) connections.belongsTo(socket, user);
    connections.ended(socket);
  };
  return { answer, clock, connections, open };
}

const alive = (sockets: readonly FakeSocket[]): boolean[] => sockets.map(({ destroyed }) => !destroyed);

describe('a connection without a request of a known user', () => {
  it('lives for seconds after its last answer', async () => {
    const { answer, clock, connections, open } = setUp();
    const [first, second] = [open(), open()];
    answer(first);
    await clock.advance(3000);
    answer(second);
    await clock.advance(2000);
    expect(alive([first, second])).toEqual([false, true]);
    await clock.advance(3000);
    expect(alive([second])).toEqual([false]);
    expect(connections.size).toBe(0);
  });

  it('stays for as long as a request is under way on it, and is not this clock’s to end before its first', async () => {
    const { clock, connections, open } = setUp();
    const [busy, fresh] = [open(), open()];
    connections.began(busy);
    await clock.advance(60_000);
    expect(alive([busy, fresh])).toEqual([true, true]);
  });

  it('gives way first when there are too many: answered ones before those that have not begun', () => {
    const { answer, connections, open } = setUp({ most: 4 });
    const [fresh, known, older, newer] = [open(), open(), open(), open()];
    answer(known, 'ann');
    answer(older);
    answer(newer);
    const newcomers = [open(), open(), open()];
    expect(alive([older, newer, fresh, known])).toEqual([false, false, false, true]);
    expect(alive(newcomers)).toEqual([true, true, true]);
    expect(connections.size).toBe(4);
  });

  it('is one of so many of an address, whose own give way, but on loopback', () => {
    const { open } = setUp({ mostUnknownPerAddress: 2 });
    const [first, second, other] = [open(), open(), open('10.0.0.2')];
    const third = open();
    expect(alive([first, second, third, other])).toEqual([false, true, true, true]);
    const local = Array.from({ length: 5 }, () => open('127.0.0.1'));
    expect(alive(local)).toEqual([true, true, true, true, true]);
  });

  it('gives way with a request under way too, where none is idle: answers that are not read keep no place', () => {
    const { connections, open } = setUp({ most: 3, mostUnknownPerAddress: 2 });
    const asking = [open(), open()];
    for (const socket of asking) connections.began(socket);
    const [late, other] = [open(), open('10.0.0.2')];
    expect(alive([...asking, late, other])).toEqual([false, true, true, true]);
    connections.began(late);
    connections.began(other);
    open('10.0.0.3');
    expect(alive([...asking, late, other])).toEqual([false, false, true, true]);
  });
});

describe('a connection of somebody who is known', () => {
  it('stays idle for longer, and does not count for its address', async () => {
    const { answer, clock, open } = setUp({ mostUnknownPerAddress: 1 });
    const known = open();
    answer(known, 'ann');
    const other = open();
    await clock.advance(60_000);
    expect(alive([known, other])).toEqual([true, true]);
  });

  it('gives way, idle longest first, if its user has most and no unknown connection is idle', async () => {
    const { answer, clock, connections, open } = setUp({ most: 4 });
    const [bob, first, second, busy] = [open(), open(), open(), open()];
    answer(bob, 'bob');
    await clock.advance(1);
    answer(first, 'ann');
    await clock.advance(1);
    answer(second, 'ann');
    connections.began(busy);
    connections.belongsTo(busy, 'ann');
    open();
    expect(alive([bob, first, second, busy])).toEqual([true, false, true, true]);
  });

  it('gives way while its user sends a request by halves, and keeps it once all of it has come', () => {
    const { connections, open } = setUp({ most: 3 });
    const [ann, half, bob] = [open(), open(), open()];
    for (const socket of [ann, half]) {
      connections.began(socket);
      connections.belongsTo(socket, 'ann');
      connections.sends(socket, true);
    }
    connections.sends(ann, false);
    connections.began(bob);
    connections.belongsTo(bob, 'bob');
    const late = open();
    expect(alive([ann, half, bob, late])).toEqual([true, false, true, true]);
  });

  it('never gives way while a request that has come whole is under way', () => {
    const { connections, open } = setUp({ most: 2 });
    const both = [open(), open()];
    for (const socket of both) {
      connections.began(socket);
      connections.belongsTo(socket, 'ann');
    }
    const late = open();
    expect(alive([...both, late])).toEqual([true, true, false]);
  });
});

describe('the count of connections', () => {
  it('is of those that there are, with TLS around them or not', () => {
    const { connections, open } = setUp();
    const raw = open();
    const secure = new FakeSocket(raw.remoteAddress, raw.remotePort);
    connections.secured(secure);
    open();
    expect(connections.size).toBe(2);
    secure.destroy();
    expect(connections.size).toBe(1);
  });

  it('leaves out one that has gone before it was seen', () => {
    const { connections } = setUp();
    const gone = new FakeSocket(undefined, 1);
    connections.opened(gone);
    expect(gone.destroyed).toBe(true);
    expect(connections.size).toBe(0);
  });
});
