import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../../src/client/api-client/index.js';
import { SeededRandom, SystemClock } from '../../src/machinery/clock/index.js';
import { TimeoutError } from '../../src/machinery/errors/index.js';
import { InformerFactory } from '../../src/client/informer/index.js';
import { Deployment, Pod, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { RunningApiServer } from '../integration/api-server-harness.js';
import { aDeployment, startApiServer } from '../integration/api-server-harness.js';
import { TcpLink } from '../support/tcp-link.js';

const clock = new SystemClock();
let server: RunningApiServer;
let link: TcpLink;
let client: HttpApiClient;

beforeEach(async () => {
  server = await startApiServer({ tls: true });
  const connection = await loadKubeconfig({ path: server.kubeconfig, clock });
  link = await TcpLink.to(connection.serverUrl);
  const { credentials, source, tls } = connection;
  client = createHttpApiClient({
    connection: { serverUrl: link.url, tls, credentials, source },
    userAgent: 'test',
    clock,
    requestTimeoutMs: 1_000,
  });
});

afterEach(async () => {
  await client.close();
  await link.close();
  await server.stop();
});

const create = (name: string) =>
  server.call('POST', '/apis/apps/v1/namespaces/default/deployments', aDeployment(name));

describe('connections that are half open', () => {
  /** Informers whose watches wait for so long; the others have a time of their own to notice by. */
  async function startInformers(watchTimeoutSeconds: number, signal: AbortSignal) {
    const times = { watchTimeoutSeconds, idleGraceMs: 500, doubtAfterMs: 300 };
    const random = new SeededRandom(1);
    const informers = new InformerFactory({ client, clock, random, logger: silentLogger, ...times });
    const deployments = informers.informerFor<Deployment>(Deployment);
    informers.informerFor(ReplicaSet);
    informers.informerFor(Pod);
    const running = informers.run(signal);
    await informers.waitForSync(signal);
    await create('before');
    await waitFor(() => deployments.lister.get('default/before'));
    return { deployments, running };
  }

  it('are noticed by watches once their time is over', async () => {
    const stop = new AbortController();
    const { deployments, running } = await startInformers(3, stop.signal);
    link.swallow();
    await create('after');
    await waitFor(() => deployments.lister.get('default/after'));
    await waitFor(() => link.connections >= 8, { what: 'all watches to come back' });
    stop.abort();
    await running;
  });

  it('are noticed by who waits for a write, long before that', async () => {
    const stop = new AbortController();
    const { deployments, running } = await startInformers(3000, stop.signal);
    link.swallow();
    const { body } = await create('awaited');
    await deployments.waitForResourceVersion(
      (body as Deployment).metadata.resourceVersion ?? '',
      stop.signal,
    );
    expect(deployments.lister.get('default/awaited')).toBeDefined();
    stop.abort();
    await running;
  });

  it('are all given up once one request has found out', async () => {
    const get = () => client.get(Deployment, { namespace: 'default', name: 'web' });
    await create('web');
    await Promise.all([get(), get(), get(), get()]);
    expect(link.connections).toBe(4);
    await clock.sleep(1_100);
    link.swallow();
    await expect(get()).rejects.toBeInstanceOf(TimeoutError);
    // On one of the old connections each of them would be rejected as well.
    await Promise.all([get(), get(), get(), get()]);
    expect(link.connections).toBeGreaterThan(4);
  });
});
