import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AnswerOrder } from './answer-order.js';

class FakeResponse extends EventEmitter {
  socket: Socket | null = null;

  isNext(socket: Socket): void {
    this.socket = socket;
    this.emit('socket', socket);
  }
}

const asResponse = (response: FakeResponse): ServerResponse => response as unknown as ServerResponse;

describe('AnswerOrder', () => {
  it('lets a request begin at once whose answer can be sent', () => {
    const response = new FakeResponse();
    const socket = new Socket();
    response.socket = socket;
    expect(new AnswerOrder().turn({ socket }, asResponse(response))).toBeUndefined();
  });

  it('lets one behind another begin when its answer is next', async () => {
    const order = new AnswerOrder();
    const socket = new Socket();
    const responses = [new FakeResponse(), new FakeResponse()];
    const begun: number[] = [];
    const turns = responses.map(async (response, index) => {
      const isThere = await order.turn({ socket }, asResponse(response));
      begun.push(index);
      return isThere;
    });
    responses[0]!.isNext(socket);
    await turns[0];
    expect(begun).toEqual([0]);
    responses[1]!.isNext(socket);
    expect(await Promise.all(turns)).toEqual([true, true]);
  });

  it('lets none begin whose connection has been closed', async () => {
    const order = new AnswerOrder();
    const socket = new Socket();
    const turns = [1, 2, 3].map(() => order.turn({ socket }, asResponse(new FakeResponse())));
    socket.emit('close', false);
    expect(await Promise.all(turns.map(async (turn) => await turn))).toEqual([false, false, false]);
    expect(socket.listenerCount('close')).toBeLessThan(3);
  });

  it('ends a connection on which too many wait', async () => {
    const order = new AnswerOrder();
    const socket = new Socket();
    for (let i = 0; i < 64; i++) void order.turn({ socket }, asResponse(new FakeResponse()));
    expect(socket.destroyed).toBe(false);
    expect(await order.turn({ socket }, asResponse(new FakeResponse()))).toBe(false);
    expect(socket.destroyed).toBe(true);
  });
});
