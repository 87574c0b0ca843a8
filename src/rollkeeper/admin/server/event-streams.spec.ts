import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { describe, expect, it } from 'vitest';
import type { EventStream } from './event-streams.js';
import { EventStreams } from './event-streams.js';

/** The part of a response that a stream uses; its reader reads nothing until the test lets it. */
class UnreadResponse extends EventEmitter {
  writableLength = 0;
  writes: string[] = [];
  state: 'open' | 'ended' | 'destroyed' = 'open';

  get writableNeedDrain(): boolean {
    return this.writableLength > 0;
  }

  writeHead(): void {}

  write(text: string): void {
    this.writes.push(text);
    this.writableLength += text.length;
  }

  read(): void {
    this.writableLength = 0;
    this.emit('drain');
  }

  end(): void {
    if (this.state === 'open') this.state = 'ended';
  }

  destroy(): void {
    this.state = 'destroyed';
    this.emit('close');
  }
}

function open(streams: EventStreams, client = 'somebody'): { stream: EventStream; response: UnreadResponse } {
  const response = new UnreadResponse();
  return { stream: streams.open(client, response as unknown as Response), response };
}

const event = { type: 'hello', identity: 'r0', nowMs: 0, watchesDeployments: true } as const;
/** As sent over the wire. */
const EVENT_BYTES = `event: hello\ndata: ${JSON.stringify(event)}\n\n`.length;

describe('event streams', () => {
  it('send a viewer off that reads too slowly, and no other', () => {
    const streams = new EventStreams({ waitingEach: 3 * EVENT_BYTES });
    const slow = open(streams);
    const quick = open(streams);
    for (let sent = 0; sent < 5; sent++) {
      slow.stream.send(event);
      quick.stream.send(event);
      quick.response.read();
    }
    expect(slow.response).toMatchObject({ state: 'destroyed', writes: { length: 4 } });
    expect(slow.stream.signal.aborted).toBe(true);
    expect(quick.response).toMatchObject({ state: 'open', writes: { length: 5 } });
  });

  it('send the slowest off when too much waits over all', () => {
    const streams = new EventStreams({ waitingInAll: 10 * EVENT_BYTES });
    const opened = [1, 2, 3, 5].map((unread) => ({ unread, ...open(streams, `client ${unread}`) }));
    for (const { stream, unread } of opened) for (let sent = 0; sent < unread; sent++) stream.send(event);
    expect(opened.map(({ response }) => response.state)).toEqual(['open', 'open', 'open', 'destroyed']);
  });

  it('end the oldest of a client, which is told so, to make room for its next', () => {
    const streams = new EventStreams({ perClient: 1 });
    const [first, others] = [open(streams), open(streams, 'somebody else')];
    const second = open(streams);
    expect(first.response).toMatchObject({
      state: 'ended',
      writes: ['event: gave-way\ndata: {"type":"gave-way"}\n\n'],
    });
    expect([second, others].map(({ response }) => response.state)).toEqual(['open', 'open']);
    const third = open(streams);
    expect([second, third].map(({ response }) => response.state)).toEqual(['ended', 'open']);
  });

  it('let a viewer read before more is sent, and do not wait for one that has gone', async () => {
    const streams = new EventStreams();
    const { response, stream } = open(streams);
    stream.send(event);
    let drained = 0;
    const waiting = stream.drained().then(() => drained++);
    await Promise.resolve();
    expect(drained).toBe(0);
    response.read();
    await waiting;
    stream.send(event);
    const another = stream.drained();
    response.destroy();
    await another;
    stream.send(event);
    expect(response.writes).toHaveLength(2);
  });

  it('all end with the replica', () => {
    const streams = new EventStreams();
    const opened = [open(streams), open(streams, 'somebody else')];
    streams.beforeApplicationShutdown();
    expect(opened.map(({ response }) => response.state)).toEqual(['ended', 'ended']);
  });
});
