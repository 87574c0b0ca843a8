import { startTestCluster } from '../../src/testing/cluster/index.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { readFlags, text, yes } from '../support/flags.js';
import type { ForeignClient } from './check.js';
import { FOREIGN_CLIENTS } from './foreign-clients.js';

const flags = readFlags('npm run clients --', {
  only: text('of the clients those whose name contains this'),
  memory: yes('keep everything in this process, on no Redis'),
});

interface Row {
  readonly client: string;
  readonly version: string;
  readonly passed: number;
  readonly failed: number;
  readonly seconds: string;
}

const rows: Row[] = [];
const leftOut: string[] = [];
const clients = FOREIGN_CLIENTS.filter(({ name }) => name.toLowerCase().includes(flags.only.toLowerCase()));
for (const client of clients) {
  const missing = await client.missing();
  if (missing === undefined) rows.push(await check(client));
  else leftOut.push(`${client.name} is left out: ${missing}`);
}
console.table(rows);
for (const line of leftOut) console.log(line);
process.exitCode = rows.length === 0 || rows.some(({ failed }) => failed > 0) ? 1 : 0;

/** Each client has a cluster of its own, with all controllers and three nodes. */
async function check(client: ForeignClient): Promise<Row> {
  const redis = flags.memory ? undefined : await startTestRedisServer();
  const cluster = await startTestCluster({ store: redis ? { redisUrl: redis.url } : 'memory' });
  const startedAt = performance.now();
  const counts = { passed: 0, failed: 0 };
  try {
    for await (const { error, name } of client.check(cluster)) {
      counts[error === undefined ? 'passed' : 'failed']++;
      console.log(`${error === undefined ? 'passed' : 'FAILED'}  ${client.name} ${name}`);
      if (error !== undefined) console.log(error.replaceAll(/^/gm, '        '));
    }
  } finally {
    await cluster.stop();
    await redis?.stop();
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  return { client: client.name, version: await client.version(), ...counts, seconds };
}
