import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { imageOf } from '../../examples/traffic/gateway/pod-servers.ts';
import { SystemClock } from '../../src/machinery/clock/index.js';
import type { DeepReadonly, Pod } from '../../src/machinery/kubernetes/index.js';
import { Namespace, Node } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import type { TrafficWorldOptions } from '../e2e/support/traffic-world.js';
import { TrafficWorld } from '../e2e/support/traffic-world.js';
import { run } from '../e2e/support/up.js';
import { PolicyUp } from './support/policy-up.js';

const REQUESTS = 20_000;
const STEPS = [5, 20, 50];
const WAITS = {
  steps: 'weight 5%; wait 2s; weight 20%; wait 2s; weight 50%; wait 2s',
  'traffic-drain': '1s',
};
const APPROVES = {
  steps: 'weight 5%; approve; weight 20%; approve; weight 50%; approve',
  'traffic-drain': '1s',
};
const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'traffic', 'main.ts');
const clock = new SystemClock();

/** An answer that takes a while, so that requests are running whenever a pod goes. */
function slow(pod: DeepReadonly<Pod>, _request: IncomingMessage, response: ServerResponse): void {
  clock.setTimeout(() => response.writeHead(200, { 'x-image': imageOf(pod) }).end(), 300);
}

describe.skipIf(!anyKubectl())('requests that move with a rollout, with real processes', () => {
  let lab: PolicyUp;
  let world: TrafficWorld | undefined;
  let count = 0;

  beforeAll(async () => {
    lab = await PolicyUp.start();
  });
  afterEach(async () => {
    await world?.stop();
    world = undefined;
  });
  afterAll(async () => {
    await lab.stop();
  });

  /** Rolled out at `web:1`, in a namespace of its own. */
  async function start(options: TrafficWorldOptions): Promise<TrafficWorld> {
    const name = `traffic-${++count}`;
    await lab.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    world = await TrafficWorld.start(lab.client, name, options);
    await world.settledAt('web:1');
    return world;
  }
  const weightsOf = (percent: number): string => `${100 - percent}/${percent}`;

  it('have the share of every step within 1 % of 20 000 requests', async () => {
    const shop = await start({ policies: APPROVES });
    await shop.setImage('web:2');
    for (const percent of STEPS) {
      await shop.weigh(weightsOf(percent));
      await shop.says('WaitingForApproval');
      const share = await shop.shareOf('web:2', REQUESTS);
      expect(Math.abs(share - percent), `${share} % at ${percent} %`).toBeLessThan(1);
      await shop.annotate({ approve: 'alice' });
    }
    await shop.settledAt('web:2');
    expect(shop.all.failures).toEqual({});
  });

  it('are never lost where the leader is killed at every step of a promotion', async () => {
    const shop = await start({ policies: WAITS });
    await shop.setImage('web:2');
    for (const weights of [...STEPS.map(weightsOf), '0/100', '100/0']) {
      await shop.weigh(weights);
      await lab.killLeader();
    }
    await shop.settledAt('web:2');
    expect(shop.all.failures).toEqual({});
  });

  it.each(STEPS)('are never lost in an abort at %i %, also where the leader is killed', async (percent) => {
    const shop = await start({ policies: APPROVES });
    await shop.setImage('web:2');
    for (const step of STEPS.filter((each) => each <= percent)) {
      await shop.weigh(weightsOf(step));
      await shop.says('WaitingForApproval');
      if (step < percent) await shop.annotate({ approve: 'alice' });
    }
    await shop.annotate({ abort: 'bob' });
    await shop.weigh('100/0');
    await lab.killLeader();
    await shop.settledAt('web:1');
    expect(shop.all.failures).toEqual({});
  });

  it('are never lost in an automatic rollback', async () => {
    const policies = {
      ...WAITS,
      steps: 'weight 20%; 2; wait 1m',
      'on-failure': 'rollback',
      'fail-after': '2s',
    };
    const shop = await start({ policies, replicas: 4 });
    await shop.setImage('web:2');
    await shop.weigh('80/20');
    await shop.setImage('web:broken');
    await shop.settledAt('web:1');
    expect(shop.all.failures).toEqual({});
  });

  it('are never lost where the Deployment is scaled up and down in the middle', async () => {
    const shop = await start({ policies: APPROVES });
    await shop.setImage('web:2');
    for (const [index, percent] of STEPS.entries()) {
      await shop.weigh(weightsOf(percent));
      await shop.says('WaitingForApproval');
      await shop.scale([6, 2, 4][index] ?? 3);
      expect(Math.abs((await shop.shareOf('web:2', 2000)) - percent)).toBeLessThan(1);
      await shop.annotate({ approve: 'alice' });
    }
    await shop.settledAt('web:2');
    expect((await shop.pods()).length).toBe(4);
    expect(shop.all.failures).toEqual({});
  });

  it('are cut by no pod that goes: its weight was 0 for longer than a request takes', async () => {
    const shop = await start({ policies: WAITS, onDeletion: 'dies', answer: slow });
    await shop.setImage('web:2');
    await shop.settledAt('web:2');
    await shop.setImage('web:3');
    await shop.weigh('80/20');
    await shop.annotate({ abort: 'bob' });
    await shop.settledAt('web:2');
    expect(shop.all.failures).toEqual({});
  });

  it('wait with the rollout for a gateway that is away, and for one that refuses the route', async () => {
    const shop = await start({ policies: APPROVES });
    await shop.setImage('web:2');
    await shop.weigh('95/5');
    await shop.says('WaitingForApproval');
    await shop.traffic.gateway.goAway();
    await shop.annotate({ approve: 'alice' });
    await shop.says('WaitingForTraffic');
    await shop.traffic.gateway.comeBack();
    await shop.weigh('80/20');
    await shop.says('WaitingForApproval');
    const key = `${shop.namespace}/web`;
    shop.traffic.gateway.refuse(key, { reason: 'UnsupportedValue', message: 'not here' });
    await shop.says('UnsupportedValue');
    expect(Math.abs((await shop.shareOf('web:2', 2000)) - 20)).toBeLessThan(1);
    expect(await shop.weights()).toBe('80/20');
    shop.traffic.gateway.accept(key);
    await shop.says('WaitingForApproval');
    await shop.annotate({ approve: 'alice' });
    await shop.weigh('50/50');
    await shop.says('WaitingForApproval');
    await shop.annotate({ approve: 'alice' });
    await shop.settledAt('web:2');
    expect(shop.all.failures).toEqual({});
  });

  it('are shown by the example, which ends with 0 because none failed', async () => {
    const env = { ...process.env, KUBECONFIG: lab.up.kubeconfig };
    const { code, stdout, stderr } = await run(process.execPath, [EXAMPLE], { env, timeoutMs: 170_000 });
    expect(stdout, stderr).toContain('requests were answered, 0 failed.');
    expect(code).toBe(0);
  });

  it('are never lost where a node dies in the middle', async () => {
    const shop = await start({ policies: APPROVES, replicas: 6 });
    await shop.setImage('web:2');
    for (const percent of STEPS) {
      await shop.weigh(weightsOf(percent));
      await shop.says('WaitingForApproval');
      if (percent < 50) await shop.annotate({ approve: 'alice' });
    }
    const name = (await shop.pods()).find((pod) => imageOf(pod) === 'web:2')?.spec.nodeName ?? '';
    const body = { metadata: { annotations: { 'node.rollkeeper.dev/behaviour': 'gone' } } };
    await lab.client.patch(Node, { name }, { type: 'merge', body });
    await shop.traffic.pods.killNode(name);
    await waitFor(async () => (await shop.pods()).filter(isOn(name)).every(isUnready), {
      ...{ what: 'the pods of the dead node to be unready', timeoutMs: 120_000 },
    });
    expect(Math.abs((await shop.shareOf('web:2', 2000)) - 50)).toBeLessThan(1);
    await shop.annotate({ approve: 'alice' });
    await shop.settledAt('web:2', 240_000);
    expect(shop.all.failures).toEqual({});
  }, 480_000);
});

const isOn =
  (node: string) =>
  ({ spec }: Pod): boolean =>
    spec.nodeName === node;

/** Whether no Service has the pod any more. */
function isUnready({ status }: Pod): boolean {
  return status?.conditions?.some(({ status: is, type }) => type === 'Ready' && is !== 'True') === true;
}
