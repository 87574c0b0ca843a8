import { expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { LeaseLostError } from '../../machinery/errors/index.js';
import { ConfigMap } from '../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import { MemoryActorRuntime } from '../../testing/memory-actor-runtime.js';
import { activationClient } from './activation-client.js';

it('writes nothing once this replica may not work any more, although the sync has not heard of it', async () => {
  const clock = new FakeClock();
  const cluster = new FakeCluster(clock);
  const runtime = new MemoryActorRuntime({ clock });
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'a' } };
  let leads = true;
  const assertLeads = (): void => {
    if (!leads) throw new LeaseLostError('this replica does not lead any more');
  };
  await runtime.activate('test', 'ns/a', new AbortController().signal, async (activation) => {
    const client = activationClient(cluster, activation, clock, assertLeads);
    await client.create(ConfigMap, object);
    leads = false;
    const writes = [
      () => client.create(ConfigMap, object),
      () => client.update(ConfigMap, object),
      () => client.patch(ConfigMap, object.metadata, { type: 'merge', body: {} }),
      () => client.delete(ConfigMap, object.metadata),
      () => client.deleteCollection(ConfigMap, { namespace: 'ns' }),
    ];
    for (const write of writes) await expect(write()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await client.get(ConfigMap, object.metadata);
  });
  expect(cluster.all(ConfigMap)).toHaveLength(1);
});
