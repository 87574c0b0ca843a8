import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHttpApiClient, loadKubeconfig } from '../../src/client/api-client/index.js';
import { runApiServerProcess } from '../../src/apiserver/index.js';
import type { ApiServerProcessOptions } from '../../src/apiserver/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { StartupError } from '../../src/machinery/errors/index.js';
import { Namespace } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';

describe('an API server as a process', () => {
  let redis: TestRedisServer;
  let dataDir: string;
  let kubeconfig: string;

  beforeAll(async () => {
    redis = await startTestRedisServer();
  });
  afterAll(() => redis.stop());
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'rollkeeper-apiserver-'));
    kubeconfig = join(dataDir, 'kubeconfig');
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  const run = async (
    options: Partial<ApiServerProcessOptions>,
    whenReady: (url: string) => Promise<void>,
  ): Promise<void> => {
    const stop = new AbortController();
    let looked: Promise<void> = Promise.resolve();
    const onReady = (url: string): void => {
      looked = whenReady(url).finally(() => stop.abort());
      looked.catch(() => undefined);
    };
    const all = { redisUrl: redis.url, dataDir, port: 0, ...options };
    await runApiServerProcess(all, { logger: silentLogger, onReady }, stop.signal);
    await looked;
  };

  it('is ready once its kubeconfig is written, which leads others to its advertised name', async () => {
    await run({ host: '0.0.0.0', advertiseHost: '127.0.0.2', kubeconfig }, async (url) => {
      expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
      const clock = new SystemClock();
      const connection = await loadKubeconfig({ path: kubeconfig, clock });
      expect(connection.serverUrl).toBe(`https://127.0.0.2:${new URL(url).port}`);
      const client = createHttpApiClient({ connection, clock, userAgent: 'test' });
      const { items } = await client.list(Namespace);
      await client.close();
      expect(items.map(({ metadata }) => metadata.name)).toContain('default');
    });
  });

  it('leads to this machine where it listens on every address and advertises none', async () => {
    await run({ host: '0.0.0.0', kubeconfig, insecure: true }, async (url) => {
      expect(readFileSync(kubeconfig, 'utf8')).toContain(`http://127.0.0.1:${new URL(url).port}`);
    });
  });

  it('ends when its kubeconfig cannot be written', async () => {
    const nowhere = join(dataDir, 'no-folder', 'kubeconfig');
    const isReady = (): Promise<void> => Promise.reject(new Error('it says that it is ready'));
    await expect(run({ kubeconfig: nowhere }, isReady)).rejects.toThrow(StartupError);
  });
});
