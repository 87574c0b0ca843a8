import { expect, it } from 'vitest';
import { createHttpApiClient, fixedCredentials } from '../../src/client/api-client/index.js';
import { SeededRandom, SystemClock } from '../../src/machinery/clock/index.js';
import { InformerFactory } from '../../src/client/informer/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { Answer } from '../../src/testing/api-client-server.js';
import { ApiClientServer, json, stream } from '../../src/testing/api-client-server.js';
import { waitFor } from '../../src/testing/wait-for.js';

const pod = (name: string, resourceVersion: string) => ({
  metadata: { name, namespace: 'a', uid: name, resourceVersion },
});
const list = (resourceVersion: string, ...items: object[]): Answer =>
  json(200, { kind: 'PodList', metadata: { resourceVersion }, items });
const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

it('an informer over HTTP outlives broken, expired and refused watches, and stops cleanly', async () => {
  const server = await ApiClientServer.start();
  const cutAfter =
    (...pieces: string[]): Answer =>
    async (response, request) => {
      await stream(pieces, { end: false })(response, request);
      response.destroy();
    };
  server
    .next(
      json(422, { kind: 'Status', code: 422, message: 'sendInitialEvents is forbidden for watch' }),
      list('10', pod('x', '5'), pod('y', '6')),
      cutAfter(line('ADDED', pod('z', '11')), '{"type":"MODI'),
      json(503, { kind: 'Status', code: 503 }),
      list('12'),
      stream([
        line('MODIFIED', pod('x', '12')),
        line('ERROR', { kind: 'Status', code: 410, reason: 'Expired' }),
      ]),
      list('20', pod('x', '12'), pod('z', '15')),
    )
    .always(stream([line('BOOKMARK', pod('', '30'))], { end: false }));

  const clock = new SystemClock();
  const connection = { serverUrl: server.url, tls: {}, credentials: fixedCredentials({}), source: 'test' };
  const client = createHttpApiClient({ connection, userAgent: 'rollkeeper/test', clock });
  const factory = new InformerFactory({
    client,
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
    freeze: true,
  });
  const pods = factory.informerFor(Pod);
  const seen: string[] = [];
  pods.addEventHandler(({ type, object }) => seen.push(`${type} ${object.metadata.name}`));

  const stopper = new AbortController();
  const running = factory.run(stopper.signal);
  await waitFor(() => pods.lastSyncedResourceVersion === '30');
  expect(seen).toEqual(['added x', 'added y', 'added z', 'modified x', 'deleted y', 'modified z']);
  expect(pods.lister.get('a/z')).toMatchObject({ apiVersion: 'v1', kind: 'Pod' });
  const watched = server.received.map(({ url }) =>
    new URL(url, server.url).searchParams.get('resourceVersion'),
  );
  // A list that the server does not stream; the place is checked before a broken watch is taken up again.
  expect(watched).toEqual([null, null, '10', null, null, '11', null, '20']);

  stopper.abort(new Error('we are stopping'));
  await running;
  await waitFor(() => server.received.at(-1)?.raw.socket.destroyed);
  await client.close();
  await server.stop();
});
