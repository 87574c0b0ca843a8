import { performance } from 'node:perf_hooks';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { CreateManagerOptions } from '../src/runtime/index.js';
import { ConfigMap, Secret, createManager, defineController, watch } from '../src/runtime/index.js';
import { startTestCluster } from '../src/testing/cluster/index.js';
import type { TestCluster } from '../src/testing/cluster/index.js';
import { startTestRedisServer } from '../src/testing/redis-server.js';
import { number, readFlags } from '../test/support/flags.js';

/** One Secret on which many objects depend: how fast its change wakes them all, in one process. The API server is in it too, and at rest; a Redis is beside it. */
const { objects, runs } = readFlags('npm run bench -- --mapped', {
  objects: number('to which one Secret is mapped', 2500),
  runs: number('changes of the Secret; the median counts', 7),
});

const SECRET = { namespace: 'default', name: 'shared' };
const MAPPED = 'mapped-';

/** Remembers which version of the Secret each object has seen. */
class Sightings {
  private readonly seen = new Map<string, string>();
  private done = Promise.withResolvers<undefined>();
  private missing = new Set<string>();
  private wanted = '';

  add(name: string, version: string): void {
    this.seen.set(name, version);
    if (version === this.wanted) this.missing.delete(name);
    if (this.missing.size === 0) this.done.resolve(undefined);
  }

  /** Resolves when all objects have seen this version. */
  all(version: string): Promise<undefined> {
    this.done = Promise.withResolvers();
    this.wanted = version;
    const names = Array.from({ length: objects }, (_, index) => `${MAPPED}${index}`);
    this.missing = new Set(names.filter((name) => this.seen.get(name) !== version));
    if (this.missing.size === 0) this.done.resolve(undefined);
    return this.done.promise;
  }
}

console.log('| coordination | keys a second | CPU (µs for a key) |\n|---|---:|---:|');
for (const coordination of ['local', 'leases', 'redis'] as const) {
  await using cluster = await startTestCluster({ controllers: [], nodes: 0 });
  const redis = coordination === 'redis' ? await startTestRedisServer() : undefined;
  const results = await measured(cluster, { coordination, ...(redis && { redisUrl: redis.url }) });
  await redis?.stop();
  const median = results.toSorted((a, b) => a.ms - b.ms)[Math.floor(results.length / 2)]!;
  const rate = Math.round((objects / median.ms) * 1000);
  console.log(`| ${coordination} | ${rate} | ${Math.round((median.cpuMs / objects) * 1000)} |`);
}

interface Result {
  readonly ms: number;
  readonly cpuMs: number;
}

async function measured(
  { client, kubeconfig }: TestCluster,
  place: Pick<CreateManagerOptions, 'coordination' | 'redisUrl'>,
): Promise<readonly Result[]> {
  await client.create(Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: SECRET,
    stringData: { key: '0' },
  });
  for (let index = 0; index < objects; index++)
    await client.create(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: SECRET.namespace, name: `${MAPPED}${index}` },
    });
  const sightings = new Sightings();
  const manager = await createManager({
    name: 'mapped',
    kubeconfig: kubeconfig.path,
    ...place,
    logger: silentLogger,
  });
  const stop = new AbortController();
  const running = manager.add(mapped(sightings)).run(stop.signal);
  const results: Result[] = [];
  for (let run = 0; run <= runs; run++) {
    const cpu = process.cpuUsage();
    const began = performance.now();
    const body = { stringData: { key: String(run + 1) } };
    const { metadata } = await client.patch(Secret, SECRET, { type: 'merge', body });
    await sightings.all(metadata.resourceVersion ?? '');
    const { system, user } = process.cpuUsage(cpu);
    // The first starts the manager as well.
    if (run > 0) results.push({ ms: performance.now() - began, cpuMs: (system + user) / 1000 });
  }
  stop.abort();
  await running;
  return results;
}

function mapped(sightings: Sightings) {
  return defineController({
    name: 'mapped',
    for: ConfigMap,
    watches: [
      watch(Secret, (_secret, listerOf) =>
        listerOf(ConfigMap)
          .list()
          .filter(({ metadata }) => metadata.name.startsWith(MAPPED))
          .map(({ metadata }) => metadata),
      ),
    ],
    async reconcile({ name }, { lister }) {
      const secret = lister(Secret).get(keyOf(SECRET));
      await Promise.resolve();
      sightings.add(name, secret?.metadata.resourceVersion ?? '');
    },
  });
}
