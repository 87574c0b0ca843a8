import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHttpApiClient } from '../../src/client/api-client/index.js';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { SystemClock, SystemRandom } from '../../src/machinery/clock/index.js';
import type { EventObject } from '../../src/client/events/index.js';
import { ApiEventRecorder } from '../../src/client/events/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { ReceivedRequest } from '../../src/testing/api-client-server.js';
import { ApiClientServer } from '../../src/testing/api-client-server.js';
import { waitFor } from '../../src/testing/wait-for.js';

/** The time that the API server of a cluster takes to store a small object. */
const ANSWER_MS = 5;
const DEPLOYMENTS = 1000;
const PODS_EACH = 2;

let server: ApiClientServer;
let client: HttpApiClient;
let underWay = 0;

beforeEach(async () => {
  underWay = 0;
  server = await ApiClientServer.start();
  server.always(async (response: ServerResponse, { body, method }: ReceivedRequest) => {
    underWay++;
    await delay(ANSWER_MS);
    underWay--;
    response.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
    response.end(body);
  });
  client = createHttpApiClient({
    connection: { source: 'the test', serverUrl: server.url, tls: {}, credentials: noCredentials },
    userAgent: 'test',
    clock: new SystemClock(),
    logger: silentLogger,
  });
});
afterEach(async () => {
  await client.close();
  await server.stop();
});

const noCredentials = { headers: async () => ({}), invalidate: () => false };

function anObject(kind: string, name: string): KubernetesObject {
  const uid = `${kind}-${name}`;
  return { apiVersion: 'apps/v1', kind, metadata: { namespace: 'default', name, uid } };
}

it('loses no event of a thousand Deployments that are created at once, and keeps the order of each object', async () => {
  const recorder = new ApiEventRecorder({
    client,
    component: 'deployment-controller',
    host: 'replica-1',
    clock: new SystemClock(),
    random: new SystemRandom(),
    logger: silentLogger,
  });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  for (let index = 0; index < DEPLOYMENTS; index++) {
    const deployment = anObject('Deployment', `web-${index}`);
    const replicaSet = anObject('ReplicaSet', `web-${index}-5d`);
    recorder.record(deployment, { type: 'Normal', reason: 'ScalingReplicaSet', message: 'Scaled up' });
    for (let pod = 0; pod < PODS_EACH; pod++) {
      recorder.record(replicaSet, {
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: `Created pod: ${pod}`,
      });
    }
  }
  const expected = DEPLOYMENTS * (1 + PODS_EACH);
  await waitFor(
    () => Promise.resolve(recorder.droppedEvents + server.received.length >= expected && underWay === 0),
    { what: 'every event' },
  );
  stop.abort();
  await running;

  expect(recorder.droppedEvents).toBe(0);
  const written = server.received.map(({ body }) => JSON.parse(body) as EventObject);
  expect(written).toHaveLength(expected);
  const messages = Map.groupBy(written, ({ involvedObject }) => involvedObject.uid ?? '');
  for (const [uid, events] of messages) {
    const told = events.map(({ message }) => message);
    expect(told, uid).toEqual(
      uid.startsWith('Deployment') ? ['Scaled up'] : ['Created pod: 0', 'Created pod: 1'],
    );
  }
  expect(messages.size).toBe(DEPLOYMENTS * 2);
});
