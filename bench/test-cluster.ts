import { execFileSync } from 'node:child_process';
import { startTestRedisServer } from '../src/testing/redis-server.js';
import { number, readFlags } from '../test/support/flags.js';

const CHILD = `${import.meta.dirname}/support/test-cluster-child.mjs`;

const flags = readFlags('npm run bench -- --test-cluster', {
  runs: number('processes that start one', 9),
  clusters: number('clusters at once in one process', 20),
});

const redis = await startTestRedisServer();
try {
  measure('in memory');
  measure('on Redis', redis.url);
} finally {
  await redis.stop();
}

/** Every figure in a process of its own: the second start of a process says nothing about the first. */
function measure(name: string, redisUrl?: string): void {
  const runs = Array.from({ length: flags.runs }, () => inChild('start', redisUrl));
  const rows: readonly [string, string][] = [
    ['the library loaded', 'loadedMs'],
    ['first cluster ready, loading included', 'firstMs'],
    ['CPU time of that', 'firstCpuMs'],
    ['next cluster ready', 'nextMs'],
    ['Deployment of 3 pods rolled out', 'rolloutMs'],
    ['stopped', 'stopMs'],
  ];
  for (const [what, figure] of rows)
    print(
      `${name}: ${what}`,
      runs.map((run) => run[figure] ?? Number.NaN),
    );
  const many = inChild('many', redisUrl);
  const { emptyMiB, fullMiB, idleShare, readyMs, rolloutMs } = many;
  console.log(
    `${name}: ${flags.clusters} at once ready in ${readyMs} ms; 5 pods in each ${rolloutMs} ms later`,
  );
  console.log(
    `${name}: resident ${emptyMiB} MiB with one, ${fullMiB} MiB with these; idle ${idleShare} % of a core`,
  );
}

function inChild(what: string, redisUrl: string | undefined): Record<string, number> {
  const place = redisUrl === undefined ? [] : [redisUrl];
  const args = ['--expose-gc', CHILD, what, String(flags.clusters), ...place];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Record<string, number>;
}

function print(what: string, figures: readonly number[]): void {
  const sorted = [...figures].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  console.log(`${what}: median ${median} ms, from ${sorted[0]} to ${sorted.at(-1)}, ${sorted.length} runs`);
}
