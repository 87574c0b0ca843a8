import { expect, it } from 'vitest';
import type { StreamingAnswer } from './http-transport.js';
import { logLines } from './log-lines.js';

function answerOf(chunks: readonly Uint8Array[], failure?: Error) {
  const ended: unknown[] = [];
  const body = async function* () {
    yield* chunks;
    if (failure) throw failure;
  };
  const answer = {
    status: 200,
    body: Object.assign(body(), { text: async () => '' }),
    scope: { touch: () => undefined, abort: (reason: unknown) => void ended.push(reason) },
    explain: (error: unknown) => new Error('explained', { cause: error }),
    head: {},
  } as unknown as StreamingAnswer;
  return { answer, ended };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const linesOf = async (chunks: readonly Uint8Array[]): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of logLines(async () => answerOf(chunks).answer)) lines.push(line);
  return lines;
};

it('gives each line once it is whole, empty ones and a last one without an end too', async () => {
  expect(await linesOf([bytes('one\n\ntw'), bytes('o\nthree')])).toEqual(['one', '', 'two', 'three']);
  expect(await linesOf([bytes('one\n')])).toEqual(['one']);
  expect(await linesOf([])).toEqual([]);
});

it('decodes no character in parts', async () => {
  const whole = bytes('Grüße €\n');
  const single = [...whole].map((byte) => Uint8Array.of(byte));
  expect(await linesOf(single)).toEqual(['Grüße €']);
});

it('closes the connection when the reader leaves, and explains why it broke', async () => {
  const { answer, ended } = answerOf([bytes('one\ntwo\n')]);
  for await (const line of logLines(async () => answer)) {
    expect(line).toBe('one');
    break;
  }
  expect(ended).toHaveLength(1);
  const broken = answerOf([bytes('one\n')], new Error('reset'));
  const read = async () => {
    for await (const _ of logLines(async () => broken.answer));
  };
  await expect(read()).rejects.toThrow('explained');
});
