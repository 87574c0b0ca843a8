import { beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../client/api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { CustomResourceDefinition } from '../../runtime/index.js';
import { FakeCluster } from '../fake-cluster.js';
import { definitionServed } from './definition-served.js';

const NAME = 'websites.example.com';
const definition = (established: 'True' | 'False'): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: NAME },
  spec: {
    group: 'example.com',
    names: { kind: 'Website', plural: 'websites' },
    scope: 'Namespaced',
    versions: [
      { name: 'v1', served: true, storage: true },
      { name: 'v0', served: false, storage: false },
    ],
  },
  status: { conditions: [{ type: 'Established', status: established, message: 'not yet' }] },
});
const websites = {
  ...{ group: 'example.com', version: 'v1', resource: 'websites', kind: 'Website', namespaced: true },
  verbs: ['list'],
};

describe('a definition', () => {
  let clock: FakeClock;
  let cluster: FakeCluster;
  const served = () => definitionServed(cluster, NAME, { clock, signal: new AbortController().signal });

  beforeEach(() => {
    clock = new FakeClock();
    cluster = new FakeCluster(clock);
  });

  it('is in force once its served versions are established, in the discovery and served', async () => {
    const stored = cluster.seed(CustomResourceDefinition, definition('False'));
    let isServed = false;
    cluster.intercept = ({ type, verb }) =>
      verb === 'list' && type.resource === 'websites' && !isServed
        ? new ApiStatusError({ code: 404, reason: 'NotFound', message: '404 page not found' })
        : undefined;
    let isOver = false;
    const over = served().then(() => (isOver = true));
    const stays = async () => {
      await clock.advance(100);
      expect(isOver).toBe(false);
    };
    await stays();
    cluster.vanish(CustomResourceDefinition, NAME);
    cluster.seed(CustomResourceDefinition, { ...definition('True'), metadata: stored.metadata });
    await stays();
    cluster.discovered = [...cluster.discovered, websites];
    await stays();
    isServed = true;
    await clock.advance(100);
    await over;
  });

  it('is reported with what is missing if it does not come into force', async () => {
    cluster.seed(CustomResourceDefinition, definition('False'));
    const failed = expect(served()).rejects.toThrow(
      'the definition websites.example.com was not in force within 30000 ms: Established is False: not yet',
    );
    await clock.advance(60_000);
    await failed;
  });
});
