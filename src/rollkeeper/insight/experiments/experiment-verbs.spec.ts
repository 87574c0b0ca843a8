import { describe, expect, it } from 'vitest';
import { ApiConnectionError, ApiStatusError } from '../../../client/api-client/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import { ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { readExperiment, waitForExperiment } from './experiment-verbs.js';

const NAMED = { namespace: 'shop', name: 'sizes' };

function keeper(name: string, created: string, state: object = {}): ReplicaSet {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
    metadata: {
      ...{ name, namespace: 'shop', creationTimestamp: created },
      labels: { 'rollkeeper.dev/experiment': name },
      annotations: { 'rollkeeper.dev/experiment-state': JSON.stringify(state) },
    },
    spec: { replicas: 0, selector: {} },
  };
}

describe('the experiment of a name', () => {
  it('is that of a run, or the newest run of a file, and no other', async () => {
    const cluster = new FakeCluster();
    cluster.seed(ReplicaSet, keeper('sizes-bbbbb', '2026-01-01T00:01:00Z'));
    cluster.seed(ReplicaSet, keeper('sizes-ccccc', '2026-01-01T00:00:00Z'));
    expect(await readExperiment(cluster, NAMED)).toMatchObject({ experiment: 'sizes-bbbbb' });
    expect(await readExperiment(cluster, { ...NAMED, name: 'sizes-ccccc' })).toMatchObject({
      experiment: 'sizes-ccccc',
    });
    await expect(readExperiment(cluster, { ...NAMED, name: 'size' })).rejects.toThrow(
      'there is no experiment size in namespace shop',
    );
  });
});

describe('the wait for an experiment', () => {
  const ENDED = { ended: '2026-01-01T00:10:00Z', verdict: 'passed' };

  function waiting(failures: Error[], timeoutMs = 60_000) {
    const cluster = new FakeCluster();
    cluster.seed(ReplicaSet, keeper('sizes-bbbbb', '2026-01-01T00:00:00Z', ENDED));
    const clock = new FakeClock();
    const list: FakeCluster['list'] = (type, options) => {
      const failure = failures.shift();
      return failure ? Promise.reject(failure) : cluster.list(type, options);
    };
    const client = Object.assign(Object.create(cluster) as FakeCluster, { list });
    const signal = new AbortController().signal;
    const ended = waitForExperiment(client, NAMED, { clock, signal, timeoutMs, show: () => undefined });
    return { clock, ended };
  }

  it('goes on while the API server is away', async () => {
    const { clock, ended } = waiting([
      new ApiConnectionError('refused'),
      new ApiStatusError({ code: 503, message: 'starting' }),
    ]);
    await clock.advance(2000);
    expect(await ended).toMatchObject({ phase: 'passed' });
  });

  it('ends with what the API server refuses', async () => {
    const { ended } = waiting([new ApiStatusError({ code: 403, message: 'forbidden' })]);
    await expect(ended).rejects.toThrow('forbidden');
  });
});
