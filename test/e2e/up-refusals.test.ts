import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Up } from './support/up.js';

const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('rollkeeper up that cannot start says why in one line, exits with 1 and leaves nothing running', () => {
  const listen = async (
    onConnection: (text: string) => string,
  ): Promise<{ server: Server; port: number }> => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => socket.write(onConnection(chunk.toString())));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, port: (server.address() as AddressInfo).port };
  };
  const failing = async (options: {
    dataDir?: string;
    args?: string[];
    env?: NodeJS.ProcessEnv;
    exit?: number;
  }): Promise<string> => {
    const { exit = 1, ...spawned } = options;
    const up = Up.spawn({ dataDir: join(folder, 'failing'), ...spawned });
    expect(await up.ended()).toBe(exit);
    expect(up.printed.trimEnd().split('\n')).toHaveLength(1);
    await expect(up.status()).rejects.toThrow('nothing is running');
    return up.printed;
  };

  it('when the port is in use', async () => {
    const { port, server } = await listen(() => '');
    expect(await failing({ args: ['--port', String(port)] })).toMatch(new RegExp(`${port}.*in use`));
    server.close();
  });

  it('when the data folder cannot be used', async () => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    expect(await failing({ dataDir: join(file, 'inside') })).toContain(file);
  });

  it('when Redis is not there, or is something else', async () => {
    const { port, server } = await listen(() => 'HTTP/1.1 400 Bad Request\r\n\r\n');
    expect(await failing({ env: { REDIS_URL: `redis://127.0.0.1:${port}` } })).toContain(
      `Redis at 127.0.0.1:${port}`,
    );
    server.close();
    expect(await failing({ env: { REDIS_URL: 'redis://127.0.0.1:1' } })).toContain('Redis at 127.0.0.1:1');
    expect(await failing({ env: { REDIS_URL: 'http://127.0.0.1' }, exit: 2 })).toContain('REDIS_URL');
  });

  it.each([
    { args: ['--replicas', '0'], says: 'replicas: must be at least 1' },
    { args: ['--nodes', 'many'], says: 'nodes: is not a number' },
    { args: ['--port', '70000'], says: 'port: must be at most 65535' },
  ])('when an option is wrong: $args', async ({ args, says }) => {
    expect(await failing({ args, exit: 2 })).toContain(says);
  });

  it('when a profile of its nodes is wrong', async () => {
    const file = join(folder, 'profiles.yaml');
    writeFileSync(file, 'profiles: [{ count: 1, capacity: { memory: lots } }]');
    const args = ['--node-profiles', file];
    expect(await failing({ args, exit: 2 })).toContain('node-profiles.0.capacity.memory: is no quantity');
    writeFileSync(file, 'profiles: [{ count: 4 }]');
    expect(await failing({ args, exit: 2 })).toContain('profiles: are for 4 nodes, and there are 3');
  });
});
