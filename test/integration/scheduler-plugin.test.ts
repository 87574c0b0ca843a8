import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import rackPower from '../../examples/scheduler-plugin/rack-power.js';
import type { Pod } from '../../src/machinery/kubernetes/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster({ controllers: [], nodes: 3, scheduler: { plugins: [rackPower] } });
  // Two nodes share a rack whose feed is small; the third has a large one for itself.
  for (const [node, rack, watts] of [
    ['node-0', 'a', '300'],
    ['node-1', 'a', '300'],
    ['node-2', 'b', '1000'],
  ] as const)
    await cluster.patch(`node/${node}`, {
      metadata: { labels: { 'example.com/rack': rack, 'example.com/rack-watts': watts } },
    });
});
afterAll(() => cluster.stop());

const pod = (name: string, watts: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', annotations: { 'example.com/watts': String(watts) } },
  spec: { containers: [{ name: 'main', image: 'nginx' }] },
});

const podOf = async (name: string) => (await cluster.get(`pod/${name}`)) as unknown as Pod;

describe('a plug-in of one’s own', () => {
  it('decides where pods go', async () => {
    for (const name of ['one', 'two', 'three']) {
      await cluster.apply(pod(name, 200));
      await cluster.settled();
    }
    const nodes = [];
    for (const name of ['one', 'two', 'three']) nodes.push((await podOf(name)).spec.nodeName);
    // The default profile would take each node once.
    expect(nodes).toEqual(['node-2', 'node-2', 'node-2']);
  });

  it('keeps pods waiting, says why in the condition, and lets them go on when something has changed', async () => {
    await cluster.apply(pod('hungry', 500));
    await cluster.settled();
    expect((await podOf('hungry')).status?.conditions).toMatchObject([
      {
        type: 'PodScheduled',
        reason: 'Unschedulable',
        message: expect.stringContaining('3 node(s) had too little power left in their rack') as unknown,
      },
    ]);
    await cluster.delete('pod/one');
    await cluster.waitFor('pod/hungry', 'condition=PodScheduled');
    expect((await podOf('hungry')).spec.nodeName).toBe('node-2');
  });
});
