import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { FakeInformers } from '../../src/testing/fake-informers.js';
import { fuzzAdmin } from '../fuzz/admin/admin-fuzz.js';

const SEED = Number(process.env['ROLLKEEPER_FUZZ_SEED'] ?? 1);
const COUNT = Number(process.env['ROLLKEEPER_FUZZ_REQUESTS'] ?? 400);

/** `npm run fuzz -- --admin` does more of it, to a replica that works. */
describe('the admin port, asked what nobody would ask,', () => {
  let server: AdminServer;
  let pass: () => Promise<void>;

  beforeAll(async () => {
    const ports = anAdminPorts({ informers: new FakeInformers(new FakeCluster()) });
    pass = () => ports.clock.advance(10_000);
    const { status } = ports;
    const health = new HealthRegistry();
    const module = AdminModule.forRoot({ health, metrics: createMetrics(), status, ports });
    server = await startAdminServer(module, { host: '127.0.0.1', port: 0 });
  });
  afterAll(() => server.close());

  it(
    'changes nothing without the token, tells it to nobody, and does not fail',
    { timeout: 120_000 },
    async () => {
      const target = { url: server.url, token: ADMIN_TOKEN, pass };
      const { findings, statuses } = await fuzzAdmin(target, { seed: SEED, count: COUNT });
      expect(findings, `seed ${SEED}`).toEqual([]);
      // It came through: some of it was done, some refused for its token, some for what it was.
      for (const status of [200, 401, 403, 404, 400])
        expect([...statuses.keys()], `seed ${SEED}`).toContain(status);
      expect(statuses.get(429) ?? 0, 'too many').toBe(0);
    },
  );
});
