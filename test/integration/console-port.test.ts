import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { portForConsole, rememberConsolePort } from '../../src/rollkeeper/replica/supervisor/console-port.js';
import { freePort } from '../../src/machinery/listening.js';

describe('the port of the console', () => {
  let dir: string;
  const warn = vi.fn();
  const closings: (() => void)[] = [];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'rollkeeper-console-'));
    warn.mockClear();
  });
  afterEach(() => {
    for (const close of closings.splice(0)) close();
    rmSync(dir, { recursive: true, force: true });
  });

  const takenPort = async (): Promise<number> => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    closings.push(() => server.close());
    return (server.address() as AddressInfo).port;
  };
  const port = (given: { readonly port?: number; readonly 'console-port'?: number } = {}) =>
    portForConsole({ 'data-dir': dir, port: 0, ...given }, { warn });
  const used = (number: number) => rememberConsolePort(dir, `http://127.0.0.1:${number}`);

  it('is the one that was given, or none where that is taken', async () => {
    const free = await freePort();
    await used(await freePort());
    expect(await port({ 'console-port': free })).toBe(String(free));
    await expect(port({ 'console-port': await takenPort() })).rejects.toThrow('console-port');
  });

  it('is that of the last start as long as that is free', async () => {
    const [free, taken] = [await freePort(), await takenPort()];
    await used(free);
    expect(await port()).toBe(String(free));
    await used(taken);
    expect(await port()).toBe('0');
    expect(warn).toHaveBeenCalledOnce();
  });

  it('is the one after that of the API server at the first start, or the choice of the system', async () => {
    const after = await freePort();
    expect(await port({ port: after - 1 })).toBe(String(after));
    expect(await port({ port: (await takenPort()) - 1 })).toBe('0');
    expect(await port({ port: 65_535 })).toBe('0');
    expect(await port()).toBe('0');
    expect(warn).not.toHaveBeenCalled();
  });

  it('is not what a damaged file says', async () => {
    for (const text of ['', 'http', '0', '70000', '-1', '8080 x']) {
      writeFileSync(join(dir, 'console-port'), text, { mode: 0o600 });
      expect(await port(), text).toBe('0');
    }
  });
});
