import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { ObjectShard, createHttpApiClient, fixedCredentials } from '../../src/client/api-client/index.js';
import { InformerFactory } from '../../src/client/informer/index.js';
import { SystemClock, SystemRandom } from '../../src/machinery/clock/index.js';
import { Pod, shardRangeOf } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';

/** The state of one cache. */
export interface ShardCacheFigures {
  readonly objects: number;
  /** Changes that its handlers have seen, those of the first list left out. */
  readonly changes: number;
  /** Heap after a collection, MiB. */
  readonly heapMiB: number;
  /** CPU seconds of the process so far. */
  readonly cpuSeconds: number;
  /** Bytes that came over its connections. */
  readonly bytes: number;
}

/** A shard that is asked of no server, as if none knew shards. */
class UnaskedShard extends ObjectShard {
  override readonly selector = '';
}

/* One process with a cache of pods: `URL TOKEN INDEX COUNT asked|unasked`. Answers every message with its figures. */

const [serverUrl = '', token = '', index = '0', count = '1', mode = 'asked'] = process.argv.slice(2);
const sockets = new Set<Socket>();
subscribe('undici:client:connected', (message) => void sockets.add((message as { socket: Socket }).socket));

const clock = new SystemClock();
const connection = {
  ...{ serverUrl, tls: {}, source: 'the benchmark' },
  credentials: fixedCredentials({ authorization: `Bearer ${token}` }),
};
const Shard = mode === 'asked' ? ObjectShard : UnaskedShard;
const shards =
  count === '1' ? [] : [new Shard('object.metadata.namespace', [shardRangeOf(Number(index), Number(count))])];
const factory = new InformerFactory({
  ...{ clock, shards, logger: silentLogger, random: new SystemRandom() },
  client: createHttpApiClient({ connection, clock, userAgent: 'rollkeeper/bench' }),
});
const pods = factory.informerFor(Pod);
let changes = 0;
pods.addEventHandler((event) => {
  if (event.type !== 'added' || !event.initial) changes++;
});
const stop = new AbortController();
process.on('disconnect', () => process.exit());
process.on('message', () => process.send?.(figures()));
void factory.run(stop.signal);
await factory.waitForSync(stop.signal);
process.send?.(figures());

function figures(): ShardCacheFigures {
  globalThis.gc?.();
  const { system, user } = process.cpuUsage();
  return {
    ...{ changes, objects: pods.lister.list().length },
    heapMiB: process.memoryUsage().heapUsed / 2 ** 20,
    cpuSeconds: (user + system) / 1e6,
    bytes: [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0),
  };
}
