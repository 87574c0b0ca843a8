import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventStreams } from '../../src/rollkeeper/admin/server/event-streams.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/index.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/index.js';
import { KubernetesApi } from '../../src/rollkeeper/replica/kubernetes-api.service.js';
import { Observation } from '../../src/rollkeeper/replica/observation.service.js';
import { ReplicaModule } from '../../src/rollkeeper/replica/replica.module.js';
import { compileReplicaOptions } from '../../src/rollkeeper/replica/replica.options.js';
import { ReplicaRunner } from '../../src/rollkeeper/replica/replica-runner.service.js';
import { ReplicaTelemetry } from '../../src/rollkeeper/replica/replica-telemetry.service.js';
import { ControllerManager } from '../../src/runtime/index.js';

/** Nothing listens there: what this replica connects to is not needed here. */
const NOWHERE = '127.0.0.1:9';

describe('a replica as a Nest application', () => {
  let folder: string;
  let server: AdminServer;
  let order: string[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rollkeeper-replica-'));
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(`http://${NOWHERE}`)));
    const options = compileReplicaOptions({
      'redis-url': `redis://${NOWHERE}`,
      identity: 'replica-1',
      kubeconfig,
      'log-level': 'error',
    });
    server = await startAdminServer(ReplicaModule.forRoot(options), { host: '127.0.0.1', port: 0 });
    order = [];
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const note = <Part extends object>(part: Part, method: keyof Part & string, name: string): void => {
    const original = (part[method] as () => unknown).bind(part);
    vi.spyOn(part as Record<string, () => unknown>, method).mockImplementation(() => {
      order.push(name);
      return original();
    });
  };
  const noteAll = (): void => {
    note(server.get(ControllerManager), 'close', 'manager');
    const { client, clients } = server.get(KubernetesApi);
    note(clients, 'close', 'clients of the controllers');
    note(client, 'close', 'client');
    note(server.get(Observation).peers, 'close', 'registry of replicas');
    note(server.get(ReplicaTelemetry).metrics, 'shutdown', 'metrics');
    note(server.get(EventStreams), 'beforeApplicationShutdown', 'console');
  };
  const run = (signal: AbortSignal): Promise<void> =>
    server.get(ReplicaRunner).run(server.url, () => undefined, signal);

  it('stops its manager, then what that used, then telemetry, and the admin pages last', async () => {
    noteAll();
    const stopped = AbortSignal.abort(new Error('stopped'));
    await run(stopped).catch(() => undefined);
    expect(order).toEqual(['manager']);
    await server.close();
    const rank = (name: string): number => order.indexOf(name);
    expect(rank('client')).toBeGreaterThan(rank('manager'));
    expect(rank('clients of the controllers')).toBeGreaterThan(rank('manager'));
    expect(rank('registry of replicas')).toBeGreaterThan(rank('manager'));
    expect(rank('metrics')).toBeGreaterThan(Math.max(rank('client'), rank('registry of replicas')));
    expect(order.at(-1)).toBe('console');
  });

  it('answers on its admin port until everything else has closed', async () => {
    const telemetry = server.get(ReplicaTelemetry);
    const { tracing } = telemetry;
    let status: number | undefined;
    vi.spyOn(tracing, 'shutdown').mockImplementation(async () => {
      status = (await fetch(`${server.url}/livez`)).status;
    });
    await server.close();
    expect(status).toBe(200);
  });

  it('closes the other parts when one does not close', async () => {
    noteAll();
    vi.spyOn(server.get(KubernetesApi).clients, 'close').mockRejectedValue(new Error('it hangs on'));
    const warned = vi.spyOn(server.get(ReplicaTelemetry).logger, 'warn');
    await server.close();
    expect(warned).toHaveBeenCalledWith('a part did not close cleanly', { error: new Error('it hangs on') });
    expect(order).toEqual(expect.arrayContaining(['client', 'metrics', 'console']));
  });
});

function kubeconfigOf(api: string) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: api } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
}
