import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import type { Deployment } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

const P = 'rollkeeper.dev/';

/** The controllers of a cluster, on a real API and its watches. */
describe('rollouts in an order', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await startTestCluster({ controllers: ['deployment', 'replicaset'] });
  });
  afterAll(() => cluster.stop());

  async function apply(
    name: string,
    image: string,
    policies: Readonly<Record<string, string>>,
  ): Promise<void> {
    const annotations = Object.fromEntries(Object.entries(policies).map(([key, value]) => [P + key, value]));
    const labels = { app: name };
    await cluster.apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace: 'default', annotations },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'app', image }] } },
      },
    });
  }

  const read = (name: string): Promise<Deployment | undefined> =>
    cluster.get<Deployment>(`deployment/${name}`);

  async function says(name: string, text: string): Promise<void> {
    const said = async (): Promise<string> => {
      const found = (await read(name))?.status?.conditions?.find(({ type }) => type === 'Progressing');
      return `${found?.reason} ${found?.message}`;
    };
    await waitFor(async () => (await said()).includes(text), { what: `${name} to say ${text}` });
  }

  it('begin when the ones before them have ended well, and go back together [kubernetes#3554, rollout-operator#461]', async () => {
    const follower = { after: 'deployment/api', release: 'one' };
    await apply('web', 'web:1', follower);
    await says('web', 'waits for deployment/api, which does not exist');
    await apply('api', 'api:1', { release: 'one', 'fail-after': '1s' });
    await cluster.waitFor('deployment/web', 'rollout');
    await apply('web', 'web:2', { ...follower, release: 'two' });
    await says('web', 'which has release one, and not two');
    await apply('api', 'api:broken', { release: 'two', 'fail-after': '1s' });
    await says('api', 'RolledBack');
    await says('web', 'release two failed by deployment/api');
    expect((await read('web'))?.spec.template.spec?.containers[0]?.image).toBe('web:1');
  });
});
