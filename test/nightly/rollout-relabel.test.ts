import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, PodDisruptionBudget, Service } from '../../src/machinery/kubernetes/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

const REPLICAS = 12;

describe.skipIf(!anyKubectl())('a change of labels alone, with kubectl', () => {
  let lab: PolicyUp;

  beforeAll(async () => {
    lab = await PolicyUp.start();
    const web = aDeployment({ name: 'web', replicas: REPLICAS });
    web.metadata.annotations = { 'rollkeeper.dev/relabel': 'in-place' };
    await lab.client.create(Deployment, web);
    expect((await rolledOut()).code).toBe(0);
  });

  afterAll(() => lab.stop());

  const rolledOut = () => lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s');

  /** UID and restarts of the pods with a label, by kubectl. */
  const podsWith = async (label: string): Promise<readonly string[]> => {
    const path = '{range .items[*]}{.metadata.uid} {.status.containerStatuses[0].restartCount}{"\\n"}{end}';
    const { stdout } = await lab.kubectl('get', 'pods', '-l', label, '-o', `jsonpath=${path}`);
    return stdout.trim() === '' ? [] : stdout.trim().split('\n').toSorted();
  };

  const untilCount = (label: string, count: number): Promise<unknown> =>
    waitFor(async () => (await podsWith(label)).length === count, {
      what: `${count} pods with ${label}`,
      timeoutMs: 60_000,
    });

  async function patch(metadata: object): Promise<void> {
    const body = JSON.stringify({ spec: { template: { metadata } } });
    const { code, stderr } = await lab.kubectl('patch', 'deployment', 'web', '-p', body);
    expect(code, stderr).toBe(0);
  }

  async function eventsOf(reason: string): Promise<string> {
    return (await lab.kubectl('get', 'events', '--field-selector', `reason=${reason}`)).stdout;
  }

  const endpointsOf = async (service: string): Promise<number> => {
    const label = `kubernetes.io/service-name=${service}`;
    const path = '{range .items[*].endpoints[*]}{.targetRef.name}{"\\n"}{end}';
    const { stdout } = await lab.kubectl('get', 'endpointslices', '-l', label, '-o', `jsonpath=${path}`);
    return stdout.trim() === '' ? 0 : stdout.trim().split('\n').length;
  };

  it('is given to the pods that run, whose Service has them at once', async () => {
    const spec = { selector: { team: 'shop' }, ports: [{ port: 80 }] };
    const metadata = { namespace: 'default', name: 'of-shop' };
    await lab.client.create(Service, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec,
    } as KubernetesObject);
    const before = await podsWith('app=web');
    await patch({ labels: { team: 'shop' }, annotations: { note: 'mine' } });
    expect((await rolledOut()).code).toBe(0);
    await untilCount('team=shop', REPLICAS);
    expect(await podsWith('team=shop')).toEqual(before);
    await waitFor(async () => (await endpointsOf('of-shop')) === REPLICAS, { what: 'its endpoints' });
    expect(await eventsOf('RelabeledInPlace')).toContain('team');
    const notes = await lab.kubectl(
      'get',
      'pods',
      '-l',
      'app=web',
      '-o',
      'jsonpath={.items[*].metadata.annotations.note}',
    );
    expect(notes.stdout.split(' ')).toEqual(Array(REPLICAS).fill('mine'));
  });

  it('is a revision, which kubectl rollout undo takes back without a restart', async () => {
    const before = await podsWith('app=web');
    const history = await lab.kubectl('rollout', 'history', 'deployment/web');
    expect(history.stdout.trim().split('\n').slice(2)).toHaveLength(2);
    expect((await lab.kubectl('rollout', 'undo', 'deployment/web')).code).toBe(0);
    await untilCount('team', 0);
    expect((await rolledOut()).code).toBe(0);
    expect(await podsWith('app=web')).toEqual(before);
  });

  it('reaches each pod, and none restarts, although the leader is killed in the middle', async () => {
    const before = await podsWith('app=web');
    for (const team of ['one', 'two', 'three']) {
      await patch({ labels: { team } });
      await lab.killLeader();
      await untilCount(`team=${team}`, REPLICAS);
      expect((await rolledOut()).code).toBe(0);
    }
    await patch({ labels: { team: 'four' } });
    await waitFor(async () => (await podsWith('team=four')).length > 0, { what: 'the first', intervalMs: 5 });
    await lab.killLeader();
    await untilCount('team=four', REPLICAS);
    expect(await podsWith('app=web')).toEqual(before);
  });

  it('is made by kubectl apply too, beside a change of the size', async () => {
    const before = await podsWith('app=web');
    const { stdout } = await lab.kubectl('get', 'deployment', 'web', '-o', 'json');
    const web = JSON.parse(stdout) as Deployment;
    const file = join(lab.up.dataDir, 'web.json');
    const template = web.spec.template;
    const labels = { ...template.metadata?.labels, team: 'five' };
    const { annotations = {}, name, namespace } = web.metadata;
    writeFileSync(
      file,
      JSON.stringify({
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace, annotations } },
        spec: {
          ...{ replicas: REPLICAS + 1, selector: web.spec.selector, strategy: web.spec.strategy },
          template: { ...template, metadata: { ...template.metadata, labels } },
        },
      }),
    );
    expect((await lab.kubectl('apply', '-f', file)).code).toBe(0);
    await untilCount('team=five', REPLICAS + 1);
    expect(await podsWith('team=five')).toEqual(expect.arrayContaining([...before]));
    expect((await lab.kubectl('scale', 'deployment/web', `--replicas=${REPLICAS}`)).code).toBe(0);
    await untilCount('team=five', REPLICAS);
  });

  it('is refused in place, and rolled out, where the image changes with it', async () => {
    const before = new Set(await podsWith('app=web'));
    const body = {
      spec: {
        template: {
          metadata: { labels: { team: 'six' } },
          spec: { containers: [{ name: 'web', image: 'web:2' }] },
        },
      },
    };
    expect((await lab.kubectl('patch', 'deployment', 'web', '-p', JSON.stringify(body))).code).toBe(0);
    expect((await rolledOut()).code).toBe(0);
    await untilCount('team=six', REPLICAS);
    expect((await podsWith('team=six')).filter((pod) => before.has(pod))).toEqual([]);
  });

  it('is rolled out, and an Event says so, where the selector looks at the label', async () => {
    const name = 'picky';
    const picky = aDeployment({ name, replicas: 2 });
    picky.metadata.annotations = { 'rollkeeper.dev/relabel': 'in-place' };
    const labels = { app: name, tier: 'a' };
    const tiers = [{ key: 'tier', operator: 'In' as const, values: ['a', 'b'] }];
    await lab.client.create(Deployment, {
      ...picky,
      spec: {
        ...picky.spec,
        selector: { matchLabels: { app: name }, matchExpressions: tiers },
        template: { ...picky.spec.template, metadata: { labels } },
      },
    });
    const isOut = () => lab.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=60s');
    expect((await isOut()).code).toBe(0);
    const before = new Set(await podsWith(`app=${name}`));
    const body = JSON.stringify({ spec: { template: { metadata: { labels: { tier: 'b' } } } } });
    expect((await lab.kubectl('patch', 'deployment', name, '-p', body)).code).toBe(0);
    await untilCount('tier=b', 2);
    expect((await isOut()).code).toBe(0);
    expect((await podsWith('tier=b')).filter((pod) => before.has(pod))).toEqual([]);
    expect(await eventsOf('RelabelRefused')).toContain('tier');
    const outside = JSON.stringify({ spec: { template: { metadata: { labels: { tier: 'c' } } } } });
    expect((await lab.kubectl('patch', 'deployment', name, '-p', outside)).code).not.toBe(0);
  });

  it('leaves what a PodDisruptionBudget and kubectl see of the pods as it was', async () => {
    const metadata = { namespace: 'default', name: 'web' };
    const spec = { minAvailable: REPLICAS, selector: { matchLabels: { app: 'web' } } };
    await lab.client.create(PodDisruptionBudget, {
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec },
    });
    const before = await podsWith('app=web');
    await patch({ labels: { team: 'seven' } });
    await untilCount('team=seven', REPLICAS);
    expect(await podsWith('app=web')).toEqual(before);
    const { status } = await lab.deployment();
    expect(status).toMatchObject({
      replicas: REPLICAS,
      updatedReplicas: REPLICAS,
      availableReplicas: REPLICAS,
    });
  });
});
