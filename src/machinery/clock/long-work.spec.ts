import { describe, expect, it } from 'vitest';
import { atOnce, LongWork } from './long-work.js';
import type { Pieces } from './long-work.js';

function* pieces(log: string[], work: () => void): Pieces<string> {
  for (const name of ['a', 'b', 'c']) {
    work();
    log.push(name);
    yield;
  }
  return 'done';
}

/** Runs the pieces, each of which takes so long, beside something that is done once per turn of the event loop. */
async function runBeside(pieceMs: number): Promise<string> {
  let nowMs = 0;
  const work = new LongWork({ monotonicNow: () => nowMs });
  const log: string[] = [];
  let isRunning = true;
  const turn = (): void => {
    if (!isRunning) return;
    log.push('-');
    setImmediate(turn);
  };
  setImmediate(turn);
  await work.run(pieces(log, () => (nowMs += pieceMs)));
  isRunning = false;
  return log.join('');
}

describe('long work', () => {
  it('lets others run after each piece that takes long', async () => {
    expect(await runBeside(10)).toMatch(/^a-+b-+c/);
  });

  it('lets others run when short pieces have taken long together', async () => {
    expect(await runBeside(6)).toMatch(/^ab-+c/);
  });

  it('is done in one turn if it is short', async () => {
    expect(await runBeside(1)).toBe('abc');
  });

  it('can be done without a pause', () => {
    const log: string[] = [];
    expect(atOnce(pieces(log, () => undefined))).toBe('done');
    expect(log).toEqual(['a', 'b', 'c']);
  });
});
