// One process with test clusters: prints its figures as JSON. Plain JavaScript, so that no loader of TypeScript is measured.
import { performance } from 'node:perf_hooks';

const [what, count, redisUrl] = process.argv.slice(2);
const options = redisUrl === undefined ? {} : { store: { redisUrl } };

const cpuBefore = process.cpuUsage();
const startedMs = performance.now();
const { startTestCluster } = await import('@rollkeeper/testing');
const loadedMs = performance.now() - startedMs;
const first = await startTestCluster(options);
const firstMs = performance.now() - startedMs;
const firstCpuMs = cpuMsSince(cpuBefore);
const figures = what === 'start' ? await startAgain() : await startMany(Number(count));
await first.stop();
const rounded = Object.entries({ loadedMs, firstMs, firstCpuMs, ...figures }).map(([name, value]) => [
  name,
  Math.round(value),
]);
console.log(JSON.stringify(Object.fromEntries(rounded)));

async function startAgain() {
  const [nextMs, next] = await timed(() => startTestCluster(options));
  const [rolloutMs] = await timed(() => rollOut(next, 3));
  const [stopMs] = await timed(() => next.stop());
  return { nextMs, rolloutMs, stopMs };
}

async function startMany(clusters) {
  const emptyMiB = residentMiB();
  const [readyMs, all] = await timed(() =>
    Promise.all(Array.from({ length: clusters }, () => startTestCluster(options))),
  );
  const [rolloutMs] = await timed(() => Promise.all(all.map((cluster) => rollOut(cluster, 5))));
  const fullMiB = residentMiB();
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const idleShare = cpuMsSince(before) / 100;
  await Promise.all(all.map((cluster) => cluster.stop()));
  return { emptyMiB, readyMs, rolloutMs, fullMiB, idleShare };
}

function cpuMsSince(before) {
  const { system, user } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** With `--expose-gc`. */
function residentMiB() {
  globalThis.gc();
  return process.memoryUsage().rss / 2 ** 20;
}

async function timed(work) {
  const beforeMs = performance.now();
  const result = await work();
  return [performance.now() - beforeMs, result];
}

async function rollOut(cluster, replicas) {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] } };
  const spec = { replicas, selector: { matchLabels: labels }, template };
  await cluster.apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec });
  await cluster.waitFor('deployment/web', 'rollout', { timeoutMs: 120_000 });
}
