import { ApiStatusError } from '../../../src/client/api-client/index.js';
import { createMetrics } from '../../../src/opentelemetry/index.js';
import { AdminModule } from '../../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminPorts } from '../../../src/rollkeeper/admin/server/admin-ports.js';
import type { AdminServer } from '../../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../../src/rollkeeper/admin/server/nest-admin-server.js';
import type { AccessVerdict } from '../../../src/rollkeeper/admin/delegated-access/index.js';
import { anAdminPorts } from '../../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { HealthRegistry } from '../../../src/runtime/health/index.js';
import type { FakeCluster } from '../../../src/testing/fake-cluster.js';

/** The token of a team that may read the namespace `shop` and nothing else. */
export const TEAM_TOKEN = 'teams-token';

/** Lets the cluster answer as an API server does to the team's token. */
export function asTheTeam<T extends FakeCluster>(cluster: T): T {
  cluster.intercept = ({ key, type }) =>
    type.namespaced && key.split('/')[0] === 'shop'
      ? undefined
      : new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'not yours' });
  return cluster;
}

/** Admin pages that let the team in, with its own rights. */
export function startTeamsAdmin(ports: Partial<AdminPorts>): Promise<AdminServer> {
  const all: AdminPorts = {
    ...anAdminPorts(),
    ...ports,
    delegated: {
      judge: async ({ token }): Promise<AccessVerdict> =>
        token === TEAM_TOKEN ? { verdict: 'allowed', user: 'shop-team' } : { verdict: 'unauthenticated' },
    },
  };
  const options = {
    health: new HealthRegistry(),
    metrics: createMetrics(),
    status: all.status,
    ports: all,
  };
  return startAdminServer(AdminModule.forRoot(options), { host: '127.0.0.1', port: 0 });
}
