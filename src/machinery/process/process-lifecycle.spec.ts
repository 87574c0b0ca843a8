import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const module = fileURLToPath(new URL('./process-lifecycle.ts', import.meta.url));

/** Runs `work` in a separate process, asks it to stop once it is ready, and returns how it ended. */
async function stopped(work: string): Promise<{ code: number | null; stderr: string }> {
  const script = `
    import { runUntilStopped } from ${JSON.stringify(module)};
    const hold = setInterval(() => undefined, 1000);
    await runUntilStopped(async (signal, endWithin) => { process.stdout.write('up'); await (${work})(signal, endWithin); });
    clearInterval(hold);`;
  const child = spawn(process.execPath, [
    '-C',
    'rollkeeper:source',
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    script,
  ]);
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, stderr };
}

describe('a process that is asked to stop', () => {
  it('ends well when its work does', async () => {
    const work = `(signal, endWithin) => {
      endWithin(60000);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    }`;
    expect(await stopped(work)).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    ['goes on', '(_, endWithin) => { endWithin(300); return new Promise(() => undefined); }'],
    [
      'says only then how long it may take',
      `(signal, endWithin) => {
        signal.addEventListener('abort', () => endWithin(300));
        return new Promise(() => undefined);
      }`,
    ],
  ])('is ended when its time is over and its work %s', async (_name, work) => {
    const { code, stderr } = await stopped(work);
    expect(code).toBe(1);
    expect(stderr).toContain('not stopped within 300 ms');
  });
});

describe('a process whose output nothing reads any more', () => {
  /** Runs `script` and stops reading as soon as it has written; returns how it ended. */
  async function unread(script: string): Promise<{ code: number | null; stderr: string }> {
    const whole = `
      import { expectReaderToLeave, runOnce, runUntilStopped } from ${JSON.stringify(module)};
      expectReaderToLeave();
      const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
      ${script}`;
    const child = spawn(process.execPath, [
      ...['-C', 'rollkeeper:source', '--import', 'tsx', '--input-type=module', '-e', whole],
    ]);
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.stdout.once('data', () => child.stdout.destroy());
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stderr };
  }

  it('ends quietly if it runs until it is stopped, with the code of SIGPIPE', async () => {
    const script = `await runUntilStopped(async (signal) => {
      while (!signal.aborted) { process.stdout.write('line\\n'); await pause(); }
    });`;
    expect(await unread(script)).toEqual({ code: 141, stderr: '' });
  });

  it('finishes a change, and ends with its own code', async () => {
    const script = `await runOnce(async () => {
      for (let line = 0; line < 100; line++) { process.stdout.write('line\\n'); await pause(); }
      process.exitCode = 4;
    });`;
    expect(await unread(script)).toEqual({ code: 4, stderr: '' });
  });
});
