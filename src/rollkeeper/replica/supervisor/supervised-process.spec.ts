import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { waitFor } from '../../../testing/wait-for.js';
import { isAlive } from './run-state.js';
import { SupervisedProcess } from './supervised-process.js';

let dir: string;
let logFd: number;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rollkeeper-supervised-'));
  logFd = openSync(join(dir, 'log'), 'a');
});

afterEach(() => {
  closeSync(logFd);
  rmSync(dir, { recursive: true });
});

/** A process that becomes ready, and ignores the signal to stop. */
function deaf(ready: object, clock: FakeClock): SupervisedProcess {
  const main = join(dir, 'main.mjs');
  writeFileSync(
    main,
    `process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 1000);
    process.send(${JSON.stringify({ type: 'ready', ...ready })});`,
  );
  return new SupervisedProcess({
    name: 'deaf',
    main,
    args: () => [],
    env: process.env,
    logFd,
    clock,
    logger: silentLogger,
    onChange: () => undefined,
  });
}

describe('a process that is asked to stop and does not', () => {
  it.each([
    { name: 'is killed after ten seconds', ready: {}, afterMs: 10_000 },
    { name: 'has the time that it said it may take', ready: { stopsWithinMs: 61_200 }, afterMs: 63_200 },
    { name: 'has ten seconds also where it said less', ready: { stopsWithinMs: 4200 }, afterMs: 10_000 },
  ])('$name', async ({ afterMs, ready }) => {
    const clock = new FakeClock();
    const child = deaf(ready, clock);
    await child.start();
    const { pid = 0 } = child;
    let stopped = false;
    const stopping = child.stop().then(() => (stopped = true));
    await clock.advance(afterMs - 1);
    expect(isAlive(pid)).toBe(true);
    expect(stopped).toBe(false);
    await clock.advance(1);
    await stopping;
    await waitFor(() => !isAlive(pid));
  });
});
