import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer, MemoryStorage, createKindRegistry, createSchemaRegistry } from '../api-server/index.js';
import { SystemClock, SystemRandom } from '../base/clock/index.js';
import { stringifyJson } from '../base/kubernetes/index.js';
import { silentLogger } from '../base/logging/index.js';
import type { HttpApiClient } from '../kit/api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../kit/api-client/index.js';

/** The embedded API server on memory, in this process. */
export interface InProcessApi {
  /** A file for kubectl and for `createManager`. */
  readonly kubeconfig: string;
  readonly client: HttpApiClient;
  stop(): Promise<void>;
}

/** An API of one's own on a loopback port, without TLS and without a login, empty but for the namespaces that every one has. */
export async function startInProcessApi(): Promise<InProcessApi> {
  const clock = new SystemClock();
  const stopper = new AbortController();
  const storage = new MemoryStorage({ clock });
  const server = new ApiServer({
    storage,
    kinds: createKindRegistry(),
    schemas: createSchemaRegistry(),
    clock,
    random: new SystemRandom(),
    logger: silentLogger,
  });
  const running = [storage.run(stopper.signal), server.run(stopper.signal)];
  const { url } = await server.ready;
  const directory = mkdtempSync(join(tmpdir(), 'rollkeeper-api-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigFor(url));
  const connection = await loadKubeconfig({ path: kubeconfig, clock });
  const client = createHttpApiClient({ connection, userAgent: 'test', clock });
  return {
    kubeconfig,
    client,
    async stop() {
      await client.close();
      stopper.abort();
      await Promise.allSettled(running);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** JSON is YAML. */
function kubeconfigFor(server: string): string {
  return stringifyJson({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server } }],
    users: [{ name: 'test', user: {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  });
}
