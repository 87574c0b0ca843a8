import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import type { Seed, SeedWorld } from './seed.js';
import { podBody, DEPLOYMENTS, JSON_TYPE, MERGE_PATCH, PODS, times, VICTIM } from './seed.js';

const MIB = 1024 * 1024;

/** Opens a connection that is in no pool. */
function dial(world: SeedWorld): Promise<TLSSocket> {
  const { ca, url } = world.server;
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ca }, () => resolve(socket));
    socket.on('error', reject);
  });
}

/** Opens a watch whose answer is never read. */
async function watchBlindly(world: SeedWorld, path: string): Promise<TLSSocket> {
  const socket = await dial(world);
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.server.token}\r\n\r\n`);
  return socket;
}

async function inTurns<T>(count: number, atOnce: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let from = 0; from < count; from += atOnce) {
    const size = Math.min(atOnce, count - from);
    made.push(...(await Promise.all(times(size, (index) => make(from + index)))));
  }
  return made;
}

/** The beginning of the answer to one request on a connection of its own. */
async function askOnce(world: SeedWorld): Promise<string> {
  const socket = await dial(world);
  const answer = await new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(data.toString('latin1').slice(0, 400)));
    socket.once('close', () => resolve('closed'));
    socket.on('error', () => resolve('error'));
    socket.write(`GET ${VICTIM} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.server.token}\r\n\r\n`);
  });
  socket.destroy();
  return answer;
}

/** The most resident memory that was seen until `work` was done, bytes. */
async function peakDuring(world: SeedWorld, work: () => Promise<void>): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, world.server.rss)), 50);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return peak;
}

function refuseAbove(limit: number, peak: number): void {
  if (peak > limit) throw new Error(`the server took ${(peak / MIB).toFixed(0)} MiB of memory`);
}

/** Lists as another client. Throws when such a list waits for seconds behind those of the attacker. */
async function listBeside(world: SeedWorld, path: string, until: Promise<unknown>): Promise<void> {
  let isOver = false;
  void until.finally(() => (isOver = true)).catch(() => undefined);
  do {
    const { ms, status } = await world.send({ method: 'GET', path });
    if (status === 200 && ms > LIST_PATIENCE_MS) throw new Error(`a list waited ${ms.toFixed(0)} ms`);
    await pause(100);
  } while (!isOver);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The longest wait of another client's list while there are more lists than room. */
const LIST_PATIENCE_MS = 10_000;

/** How long the server may take to end what was half sent without a token. */
const ANONYMOUS_PATIENCE_MS = 20_000;

export const FLOOD_SEEDS: readonly Seed[] = [
  {
    name: '2000 watches that never read are bounded, and the slowest go',
    async run(world) {
      const count = world.scaled(2000);
      const value = 'x'.repeat(200_000);
      const sockets = await inTurns(count, 50, () =>
        watchBlindly(world, `${DEPLOYMENTS}?watch=true&resourceVersion=0`),
      );
      const peak = await peakDuring(world, async () => {
        for (let round = 0; round < 60; round++) {
          await world.patch(MERGE_PATCH, { metadata: { annotations: { value, round: String(round) } } });
        }
      });
      for (const socket of sockets) socket.destroy();
      refuseAbove(1000 * MIB, peak);
    },
  },
  {
    name: 'watches that begin with large lists and never read are bounded',
    async run(world) {
      const value = 'x'.repeat(200_000);
      const pods = times(world.scaled(100), (index) => `large${index}`);
      await inTurns(pods.length, 8, (index) => {
        const pod = podBody(pods[index]!, {}, { annotations: { value } });
        return world.does(world.write('POST', PODS, JSON_TYPE, JSON.stringify(pod)));
      });
      const watchers = world.scaled(400);
      let sockets: TLSSocket[] = [];
      const peak = await peakDuring(world, async () => {
        sockets = await inTurns(watchers, 50, () => watchBlindly(world, `${PODS}?watch=true`));
        await new Promise((resolve) => setTimeout(resolve, 3000));
      });
      for (const socket of sockets) socket.destroy();
      const lists = await peakDuring(world, async () => {
        await inTurns(world.scaled(64), 16, () => world.does(world.send({ method: 'GET', path: PODS })));
      });
      await inTurns(pods.length, 8, (index) =>
        world.send({ method: 'DELETE', path: `${PODS}/${pods[index]}?gracePeriodSeconds=0` }),
      );
      refuseAbove(1000 * MIB, Math.max(peak, lists));
    },
  },
  {
    name: 'half a request without a token ends soon',
    async run(world) {
      const beginnings = [
        '',
        'POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\n',
        'POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{',
        'POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
      ];
      await Promise.all(
        beginnings.map(async (beginning) => {
          const socket = await dial(world);
          socket.on('error', () => undefined);
          socket.resume();
          const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
          const startedAt = performance.now();
          socket.write(beginning);
          const timer = setTimeout(() => socket.destroy(), ANONYMOUS_PATIENCE_MS);
          await closed;
          clearTimeout(timer);
          if (performance.now() - startedAt >= ANONYMOUS_PATIENCE_MS)
            throw new Error(`still open: ${JSON.stringify(beginning)}`);
        }),
      );
    },
  },
  {
    name: 'lists that nobody reads keep nobody from reading an object',
    async run(world) {
      const value = 'x'.repeat(200_000);
      const pods = times(Math.min(60, world.scaled(120)), (index) => `unread${index}`);
      await inTurns(pods.length, 8, (index) => {
        const pod = podBody(pods[index]!, {}, { annotations: { value } });
        return world.does(world.write('POST', PODS, JSON_TYPE, JSON.stringify(pod)));
      });
      const sockets: TLSSocket[] = [];
      const peak = await peakDuring(world, async () => {
        sockets.push(...(await inTurns(world.scaled(1000), 50, () => watchBlindly(world, PODS))));
        await listBeside(world, '/api/v1/nodes', pause(5000));
      });
      for (const socket of sockets) socket.destroy();
      await inTurns(pods.length, 8, (index) =>
        world.send({ method: 'DELETE', path: `${PODS}/${pods[index]}?gracePeriodSeconds=0` }),
      );
      refuseAbove(1000 * MIB, peak);
    },
  },
  {
    name: 'writes of which only half is sent keep nobody from writing',
    async run(world) {
      const authorization = `Authorization: Bearer ${world.server.token}`;
      const beginnings = [1_000, 100_000, 3_000_000].map(
        (length) =>
          `PATCH ${VICTIM} HTTP/1.1\r\nHost: x\r\n${authorization}\r\nContent-Type: ${MERGE_PATCH}\r\n` +
          `Content-Length: ${length}\r\n\r\n{${' '.repeat(Math.min(length, 20_000) - 2)}`,
      );
      const sockets = await inTurns(world.scaled(2400), 50, async (index) => {
        const socket = await dial(world);
        socket.on('error', () => undefined);
        socket.resume();
        socket.write(beginnings[index % beginnings.length]!);
        return socket;
      });
      const large = JSON.stringify({ metadata: { annotations: { large: 'x'.repeat(100_000) } } });
      for (let round = 0; round < 5; round++) {
        const { ms } = await world.does(world.patch(MERGE_PATCH, large));
        if (ms > LIST_PATIENCE_MS) throw new Error(`a large write waited ${ms.toFixed(0)} ms`);
      }
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    name: 'a list of 20 000 objects holds nobody up',
    async run(world) {
      const count = world.scaled(20_000);
      await inTurns(count, 32, (index) =>
        world.does(world.write('POST', PODS, JSON_TYPE, JSON.stringify(podBody(`many${index}`)))),
      );
      const peak = await peakDuring(world, async () => {
        const answers = await Promise.all(
          times(6, (index) =>
            world.does(
              world.send({
                method: 'GET',
                path: PODS,
                headers: index % 2 ? { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } : {},
              }),
            ),
          ),
        );
        for (const { text } of answers) {
          const { items, rows } = JSON.parse(text) as { items?: unknown[]; rows?: unknown[] };
          const found = (items ?? rows ?? []).length;
          if (found < count) throw new Error(`${found} of ${count} objects`);
        }
      });
      await world.does(world.send({ method: 'DELETE', path: `${PODS}?gracePeriodSeconds=0` }));
      refuseAbove(1000 * MIB, peak);
    },
  },
  {
    name: 'a thousand requests at once are answered or asked to come back',
    async run(world) {
      const answers = await Promise.all(times(world.scaled(1000), () => askOnce(world)));
      const wrong = answers.find((text) => !/^HTTP\/1\.1 (200|429) /.test(text));
      if (wrong !== undefined) throw new Error(wrong);
      const untold = answers.find(
        (text) => text.startsWith('HTTP/1.1 429') && !/retry-after: \d/i.test(text),
      );
      if (untold !== undefined) throw new Error(untold);
    },
  },
  {
    name: 'large bodies at once hold nobody up',
    async run(world) {
      const env = times(10_000, (index) => ({ name: `V${index}`, value: 'x'.repeat(50) }));
      const pod = podBody('large', { containers: [{ name: 'c', image: 'i', env }] });
      const body = JSON.stringify(pod);
      const path = `${PODS}?dryRun=All`;
      const peak = await peakDuring(world, async () => {
        await Promise.all(times(world.scaled(200), () => world.write('POST', path, JSON_TYPE, body)));
      });
      refuseAbove(1000 * MIB, peak);
    },
  },
];
