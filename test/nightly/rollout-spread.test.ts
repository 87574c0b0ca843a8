import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, isPodActive } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

const ZONE = 'topology.kubernetes.io/zone';
const P = 'rollkeeper.dev/';

describe.skipIf(!anyKubectl())('pods of two zones', () => {
  let lab: PolicyUp;
  let nodes: readonly string[];

  beforeAll(async () => {
    lab = await PolicyUp.start();
    const { stdout } = await lab.kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}');
    nodes = stdout.trim().split(' ');
    for (const [index, node] of nodes.entries())
      await lab.kubectl('label', 'node', node, '--overwrite', `${ZONE}=${zoneOf(index)}`);
  });
  afterAll(() => lab.stop());

  /** The last node is a zone of its own. */
  const zoneOf = (index: number): string => (index === nodes.length - 1 ? 'b' : 'a');

  async function create(
    name: string,
    whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway',
    annotations: Record<string, string>,
  ): Promise<void> {
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    const deployment = aDeployment({
      ...{ name, replicas: 4 },
      strategy: { type: 'RollingUpdate', rollingUpdate },
    });
    deployment.metadata.annotations = annotations;
    const labelSelector = { matchLabels: { app: name } };
    const constraint = { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable, labelSelector };
    Object.assign(deployment.spec.template.spec ?? {}, { topologySpreadConstraints: [constraint] });
    await lab.client.create(Deployment, deployment);
    await rolledOut(name);
  }

  async function rolledOut(name: string): Promise<void> {
    const { code, stderr } = await lab.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=120s');
    expect(code, stderr).toBe(0);
  }

  /** The pods of each zone. */
  async function zones(name: string): Promise<Readonly<Record<string, number>>> {
    const pods = (await lab.pods()).filter(
      (pod) => pod.metadata.labels?.['app'] === name && isPodActive(pod),
    );
    const found: Record<string, number> = { a: 0, b: 0 };
    for (const { spec } of pods) {
      const zone = zoneOf(nodes.indexOf(spec.nodeName ?? ''));
      found[zone] = (found[zone] ?? 0) + 1;
    }
    return found;
  }

  it('are spread after each rollout as before it [#105661, #98215, #121284, #122909]', async () => {
    await create('web', 'DoNotSchedule', { [`${P}spread`]: 'after-rollout' });
    for (let rollout = 1; rollout <= 4; rollout++) {
      await lab.kubectl('rollout', 'restart', 'deployment/web');
      await rolledOut('web');
      expect(await zones('web'), `after rollout ${rollout}`).toEqual({ a: 2, b: 2 });
    }
  });

  it('move one by one where they are uneven, although the leader is killed in the middle', async () => {
    const last = nodes.at(-1) ?? '';
    await lab.kubectl('cordon', last);
    await create('api', 'ScheduleAnyway', {});
    expect(await zones('api')).toEqual({ a: 4, b: 0 });
    await lab.kubectl('uncordon', last);
    await lab.kubectl('annotate', 'deployment', 'api', `${P}rebalance=1`);
    await waitFor(async () => (await zones('api'))['b'] === 1, { what: 'the first move', timeoutMs: 60_000 });
    await lab.killLeader();
    const isEven = async (): Promise<boolean> => {
      const { a, b } = await zones('api');
      return a === 2 && b === 2;
    };
    await waitFor(isEven, { what: 'an even spread', timeoutMs: 120_000 });
  });
});
