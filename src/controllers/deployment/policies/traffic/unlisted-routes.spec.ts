import { expect, it } from 'vitest';
import { aDeployment } from '../../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../../testing/fake-cluster.js';
import { FakeInformers } from '../../../../testing/fake-informers.js';
import { runController } from '../../../../testing/run-controller.js';
import { Deployment } from '../../../../machinery/kubernetes/index.js';
import { HTTPRoute } from './routes.js';
import { STEERING, WHOLE } from './traffic-lab.fixture.js';

it('a Deployment is looked at again while this process cannot list routes, since the leader may see them before', async () => {
  const cluster = new FakeCluster();
  const informers = new FakeInformers(cluster);
  informers.refuse(HTTPRoute, { reason: '404 page not found', code: 404 });
  const controller = runController(STEERING, cluster, { informers });
  const { metadata, ...deployment } = aDeployment({ strategy: WHOLE });
  const { namespace, name } = metadata;
  const annotations = { 'rollkeeper.dev/traffic': 'httproute/web' };
  await cluster.create<Deployment>(Deployment, { ...deployment, metadata: { namespace, name, annotations } });
  const { errors } = await controller.drain();
  expect([...errors.values()]).toEqual([]);
  expect(controller.requeues.get(`${namespace}/${name}`)).toBeLessThanOrEqual(2000);
});
