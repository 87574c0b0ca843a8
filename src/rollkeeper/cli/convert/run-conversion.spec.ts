import { expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { Deployment, RollkeeperDeployment, cloneJson } from '../../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { runConversion } from './run-conversion.js';

it('a step that is undone each time is repeated after pauses, and times out', async () => {
  const clock = new FakeClock();
  const cluster = new FakeCluster(clock);
  const deployment = await cluster.create(Deployment, aDeployment());
  let updates = 0;
  const client = Object.assign(Object.create(cluster) as FakeCluster, {
    update: () => {
      updates += 1;
      return Promise.resolve(cloneJson(deployment));
    },
  });
  const { name, namespace = '' } = deployment.metadata;
  const converted = runConversion({
    ...{ client, clock, from: Deployment, to: RollkeeperDeployment, ref: { name, namespace } },
    ...{ dryRun: false, report: () => undefined, timeoutMs: 10_000 },
  }).catch((error: unknown) => error);
  await clock.advance(11_000);
  expect(await converted).toMatchObject({ code: 'TIMEOUT' });
  expect(updates).toBeGreaterThan(1);
  expect(updates).toBeLessThan(100);
});
