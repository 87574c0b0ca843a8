import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startTestCluster } from '../../src/testing/cluster/index.js';

it('a minimal operator without a Redis loads no client of Redis, no Nest, and no library for certificates', async () => {
  await using cluster = await startTestCluster({ controllers: [], nodes: 0 });
  const script = join(import.meta.dirname, 'support', 'minimal-operator.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['-C', 'rollkeeper:source', '--import', 'tsx', script],
    { env: { ...process.env, ...cluster.env }, maxBuffer: 64 * 1024 * 1024 },
  );
  const loaded = JSON.parse(stdout.trim().split('\n').at(-1) ?? '[]') as string[];
  const heavy = [
    /node_modules\/(ioredis|bullmq|@nestjs|@peculiar|express|rxjs|reflect-metadata)\//,
    /\/src\/(redis|nest|apiserver|testing|webhooks|controllers)\//,
    // The door of undici loads a browser's `fetch`, caches and mocks; spans are sent nowhere; nothing signs in by OpenID.
    /node_modules\/undici\/(index|lib\/(web|mock|cache))|@opentelemetry\/(sdk-trace|exporter|otlp)|node_modules\/(openid-client|oauth4webapi|jose)\//,
  ];
  expect(loaded.filter((url) => heavy.some((each) => each.test(url)))).toEqual([]);
  expect(loaded.filter((url) => url.includes('/@opentelemetry/sdk-metrics/build/')).length).toBeGreaterThan(
    0,
  );
  expect(loaded.some((url) => url.endsWith('/src/runtime/operator/coordination/lease-coordination.ts'))).toBe(
    true,
  );
});
