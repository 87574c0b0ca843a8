import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { askHealth } from '../../src/rollkeeper/cli/healthcheck.command.js';

/** Asks a server that answers so. */
async function asked(status: number, text: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(text));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await askHealth(`http://127.0.0.1:${port}/readyz`).catch((error: Error) => error.message);
  } finally {
    server.close();
  }
}

describe('the health check of a container', () => {
  it('passes when the server is ready', async () => {
    expect(await asked(200, 'ok\n')).toBe('ok');
  });

  it('names what is not ready', async () => {
    expect(await asked(503, '[-]redis failed: reason withheld\n')).toMatch(
      /answered 503: \[-\]redis failed: reason withheld$/,
    );
  });

  it('fails where nobody answers, and for what is no URL', async () => {
    await expect(askHealth('http://127.0.0.1:1/readyz')).rejects.toThrow(/does not answer: .*ECONNREFUSED/);
    await expect(askHealth('readyz')).rejects.toThrow(/url/);
  });
});
