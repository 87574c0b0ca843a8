import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { shardHash } from '../src/machinery/kubernetes/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import type { RunningApiServer } from '../test/integration/api-server-harness.js';
import { TOKEN, podBody, startApiServer } from '../test/integration/api-server-harness.js';
import { number, numbers, readFlags } from '../test/support/flags.js';
import type { ShardCacheFigures } from './support/shard-cache.js';

/*
 * Measures what the caches of several processes cost that share the pods of a server by shards of their namespaces, on a server that
 * selects the shards and on one that is not asked to. One process keeps everything.
 */

const flags = readFlags('npm run bench -- --shards', {
  processes: numbers('that share the pods; one measurement each', [1, 2, 4]),
  pods: number('in all', 5000),
  namespaces: number('among which they are', 250),
  changes: number('of pods, once all caches are filled', 2000),
});

/** The cost of one way of sharing, over all its processes. */
interface Row {
  readonly way: string;
  readonly all: readonly ShardCacheFigures[];
  readonly filled: readonly ShardCacheFigures[];
  /** CPU seconds of the server, with the clients that change pods, for all changes. */
  readonly serverCpu: number;
}

const server = await startApiServer();
try {
  const paths = await fill(server);
  const empty = await measure(server, [], { processes: 1, mode: 'asked' }, true);
  const rows: Row[] = [];
  for (const processes of flags.processes)
    for (const mode of processes === 1 ? (['asked'] as const) : (['asked', 'unasked'] as const))
      rows.push(await measure(server, paths, { processes, mode }));
  print(rows, empty.filled[0]!);
} finally {
  await server.stop();
}

/** Names that differ at their beginning, as hashes by FNV need it. */
function namespaceOf(index: number): string {
  return `n${shardHash(String(index)).toString(36)}`;
}

async function fill(api: RunningApiServer): Promise<readonly string[]> {
  const namespaces = Array.from({ length: flags.namespaces }, (_, index) => namespaceOf(index));
  for (const name of namespaces) await api.call('POST', '/api/v1/namespaces', { metadata: { name } });
  const paths: string[] = [];
  for (let index = 0; index < flags.pods; index++) {
    const path = `/api/v1/namespaces/${namespaces[index % namespaces.length]}/pods`;
    await api.call('POST', path, podBody(`pod-${index}`, { labels: { app: 'bench' } }));
    paths.push(`${path}/pod-${index}`);
  }
  return paths;
}

interface Sharing {
  readonly processes: number;
  readonly mode: 'asked' | 'unasked';
}

/** @param isEmpty measures a process whose cache is of a part without pods */
async function measure(
  api: RunningApiServer,
  paths: readonly string[],
  { mode, processes }: Sharing,
  isEmpty = false,
): Promise<Row> {
  const children = Array.from({ length: processes }, (_, index) =>
    startCache(api, isEmpty ? [0, 2 ** 40] : [index, processes], mode),
  );
  try {
    const filled = await Promise.all(children.map(nextFigures));
    const cpuBefore = ownCpuSeconds();
    for (let change = 0; change < flags.changes && paths.length > 0; change++) {
      const body = { metadata: { annotations: { change: `${processes}-${mode}-${change}` } } };
      const headers = { 'content-type': 'application/merge-patch+json' };
      await api.call('PATCH', paths[change % paths.length]!, body, headers);
    }
    const serverCpu = ownCpuSeconds() - cpuBefore;
    const all = await waitFor(async () => {
      const figures = await Promise.all(children.map(askFigures));
      const seen = figures.reduce((sum, { changes }) => sum + changes, 0);
      return seen >= flags.changes || paths.length === 0 ? figures : undefined;
    });
    return { way: processes === 1 ? 'everything' : mode, filled, all, serverCpu };
  } finally {
    for (const child of children) child.disconnect();
    await Promise.all(children.map((child) => once(child, 'exit')));
  }
}

function startCache(api: RunningApiServer, [index, count]: readonly number[], mode: string): ChildProcess {
  const args = [api.url, TOKEN, String(index), String(count), mode];
  return fork(join(import.meta.dirname, 'support', 'shard-cache.ts'), args, {
    execArgv: [...process.execArgv, '--expose-gc'],
  });
}

async function nextFigures(child: ChildProcess): Promise<ShardCacheFigures> {
  const [figures] = (await once(child, 'message')) as [ShardCacheFigures];
  return figures;
}

function askFigures(child: ChildProcess): Promise<ShardCacheFigures> {
  const answer = nextFigures(child);
  child.send('figures');
  return answer;
}

function ownCpuSeconds(): number {
  const { system, user } = process.cpuUsage();
  return (user + system) / 1e6;
}

function print(rows: readonly Row[], empty: ShardCacheFigures): void {
  const { changes, namespaces, pods } = flags;
  console.log(
    `${pods} pods in ${namespaces} namespaces, ${changes} changes; sums of all processes, and the most of one`,
  );
  const line = (...cells: readonly string[]): void =>
    console.log(cells.map((cell) => cell.padStart(14)).join(''));
  line(
    'processes',
    'server',
    'most objects',
    'MiB',
    'most MiB',
    'MB of lists',
    'KB a change',
    'ms CPU/change',
    'server ms',
  );
  for (const { all, filled, serverCpu, way } of rows) {
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    const heaps = filled.map(({ heapMiB }) => heapMiB - empty.heapMiB);
    const bytes = all.map((figures, index) => figures.bytes - filled[index]!.bytes);
    const cpu = all.map((figures, index) => figures.cpuSeconds - filled[index]!.cpuSeconds);
    line(
      ...[String(all.length), way],
      String(Math.max(...filled.map(({ objects }) => objects))),
      ...[sum(heaps).toFixed(1), Math.max(...heaps).toFixed(1)],
      (sum(filled.map((figures) => figures.bytes)) / 1e6).toFixed(2),
      (sum(bytes) / changes / 1e3).toFixed(2),
      ((sum(cpu) / changes) * 1e3).toFixed(3),
      ((serverCpu / changes) * 1e3).toFixed(3),
    );
  }
}
