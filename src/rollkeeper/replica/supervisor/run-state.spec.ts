import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunState } from './run-state.js';
import { isAlive, readRunState, removeRunState, runningKubeconfig, writeRunState } from './run-state.js';

describe('the note of what runs', () => {
  let folder: string;
  const state: RunState = { version: 1, supervisorPid: 42, replicas: [] };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rollkeeper-run-state-'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is read as it was written, by its user alone, and leaves nothing else in the folder', async () => {
    await writeRunState(folder, state);
    await writeRunState(folder, { ...state, supervisorPid: 43 });
    expect(await readRunState(folder)).toEqual({ ...state, supervisorPid: 43 });
    expect((await stat(join(folder, 'run.json'))).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['run.json']);
  });

  it('is nothing where nothing was started, where it was removed, and where it is of another release', async () => {
    expect(await readRunState(folder)).toBeUndefined();
    await writeRunState(folder, state);
    await removeRunState(folder);
    expect(await readRunState(folder)).toBeUndefined();
    await writeFile(join(folder, 'run.json'), '{"version":2}');
    expect(await readRunState(folder)).toBeUndefined();
    await writeFile(join(folder, 'run.json'), 'half of');
    expect(await readRunState(folder)).toBeUndefined();
  });

  it('leads to no other machine, although such addresses are written there', async () => {
    const replica = { identity: 'r', pid: 7, adminUrl: 'http://127.0.0.1:1' };
    const planted = {
      ...state,
      redis: { url: 'redis://evil.example:6379', pid: 7 },
      apiServer: { pid: 7, url: 'https://evil.example' },
      replicas: [{ ...replica, adminUrl: 'https://evil.example' }, replica],
    };
    await writeRunState(folder, planted);
    expect(await readRunState(folder)).toEqual({ ...state, replicas: [replica] });
    const own = {
      ...state,
      redis: { url: 'redis://redis.example:6379' },
      apiServer: { pid: 7, url: 'https://127.0.0.1:6443' },
    };
    await writeRunState(folder, own);
    expect(await readRunState(folder)).toEqual(own);
  });

  it('leads to the kubeconfig of an API server that runs, unless others may read that file', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    const running = { ...state, supervisorPid: process.pid, apiServer: { pid: process.pid } };
    await writeFile(kubeconfig, '', { mode: 0o600 });
    await writeRunState(folder, { ...running, apiServer: undefined });
    expect(await runningKubeconfig(folder)).toBeUndefined();
    await writeRunState(folder, { ...running, supervisorPid: 2 ** 30 });
    expect(await runningKubeconfig(folder)).toBeUndefined();
    await writeRunState(folder, running);
    expect(await runningKubeconfig(folder)).toBe(kubeconfig);
    await chmod(kubeconfig, 0o644);
    expect(await runningKubeconfig(folder)).toBeUndefined();
    await rm(kubeconfig);
    expect(await runningKubeconfig(folder)).toBeUndefined();
  });

  it('tells the living from the dead', () => {
    expect(isAlive(process.pid)).toBe(true);
    expect(isAlive(2 ** 30)).toBe(false);
  });
});
