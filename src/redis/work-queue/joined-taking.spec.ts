import { describe, expect, it } from 'vitest';
import type { LuaArgument, RedisConnection } from '../connection/index.js';
import { LuaScript } from '../connection/index.js';
import { BullMqScripts } from './bullmq-scripts.js';
import type { EndOfRun, TakingBackend } from './joined-taking.js';
import { joinTaking } from './joined-taking.js';

const script = new LuaScript({ source: 'return 1', name: 'some', numberOfKeys: 1 });

/** A worker's backend on a server that replies with `replies`, one after the other. */
function aWorker(replies: readonly (Error | unknown[])[]) {
  const left = [...replies];
  const done: string[] = [];
  const connection = {
    defineCommand: () => undefined,
    evalsha: async () => {
      done.push('one step');
      const reply = left.shift();
      if (reply instanceof Error) throw reply;
      return reply;
    },
  } as unknown as RedisConnection;
  const scripts = new BullMqScripts(connection);
  connection.defineCommand('moveToFinished:7', { lua: 'return 2', numberOfKeys: 1 });
  const backend: TakingBackend = {
    version: '7',
    execCommand: async (_client, name) => done.push(name),
    async moveToFinished(_jobId, args: LuaArgument[]) {
      const reply = await this.execCommand(undefined, 'moveToFinished', args);
      if (typeof reply === 'number' && reply < 0) throw new Error('Missing lock for job 7');
      return reply;
    },
  };
  const end: EndOfRun = {
    call: script.call(['{a}']),
    refused: async () => void done.push('refused'),
    alone: async () => void done.push('end'),
  };
  const ends = new Map([['7', end]]);
  joinTaking(backend, {
    connection,
    scripts,
    steps: {
      beginning: () => ({
        call: script.call(['{q}']),
        answerKey: '{q}:answer',
        answerKeptMs: 1000,
        taken: (jobId) => void done.push(`took ${jobId}`),
      }),
      endOf: (jobId) => ends.get(jobId),
      ended: (jobId) => void ends.delete(jobId),
      leave: async () => undefined,
    },
  });
  return { backend, done, ends };
}

describe('a worker that completes a job', () => {
  const next = [1, [['data', '{}'], '8', 0, 0], [[null, 0, 0], false]];

  it('ends its run and takes the next job in one step', async () => {
    const { backend, done, ends } = aWorker([next]);
    expect(await backend.moveToFinished('7', ['{q}'])).toEqual(next[1]);
    expect(done).toEqual(['one step', 'took 8']);
    expect(ends.size).toBe(0);
  });

  it('ends its run by itself on a server that refuses keys of different slots, which it asks once', async () => {
    const crossSlot = new Error("CROSSSLOT Keys in request don't hash to the same slot");
    const { backend, done } = aWorker([crossSlot]);
    await backend.moveToFinished('7', ['{q}']);
    await backend.moveToFinished('8', ['{q}']);
    expect(done).toEqual(['one step', 'end', 'moveToFinished', 'moveToFinished']);
  });

  it('does what a refused end leaves to do on such a server as well', async () => {
    const crossSlot = new Error("CROSSSLOT Keys in request don't hash to the same slot");
    const { backend, done, ends } = aWorker([crossSlot]);
    const end = ends.get('7')!;
    ends.set('7', { ...end, alone: () => Promise.reject(new Error('the lock was lost')) });
    await backend.moveToFinished('7', ['{q}']);
    expect(done).toEqual(['one step', 'refused', 'moveToFinished']);
  });

  it('completes it after what a refused end leaves to do', async () => {
    const { backend, done } = aWorker([new Error('REFUSED the lock was lost'), next.slice(1)]);
    expect(await backend.moveToFinished('7', ['{q}'])).toEqual(next[1]);
    expect(done).toEqual(['one step', 'refused', 'one step', 'took 8']);
  });

  it('has ended its run although another worker has the job by now, and does not end it again', async () => {
    const { backend, done, ends } = aWorker([
      [1, -2, false],
      [-2, false],
    ]);
    await expect(backend.moveToFinished('7', ['{q}'])).rejects.toThrow('Missing lock');
    expect(ends.size).toBe(0);
    expect(done).toEqual(['one step']);
  });

  it('keeps the end of its run for the next attempt if there is no answer', async () => {
    const { backend, done, ends } = aWorker([new Error('read ECONNRESET'), next]);
    await expect(backend.moveToFinished('7', ['{q}'])).rejects.toThrow('ECONNRESET');
    expect(ends.size).toBe(1);
    expect(await backend.moveToFinished('7', ['{q}'])).toEqual(next[1]);
    expect(done).toEqual(['one step', 'one step', 'took 8']);
  });
});
