import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Pod } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

const RULE = 'rollkeeper.dev/keep-old';
const DRAINING = 'rollkeeper.dev/draining';
const BY_ANNOTATION = 'until "annotation example.com/sessions == 0", at most 1h, at most 2';

describe.skipIf(!anyKubectl())('sessions of old versions', () => {
  let lab: PolicyUp;

  beforeAll(async () => {
    lab = await PolicyUp.start('--', '--use-service-account-credentials');
  });
  afterAll(() => lab.stop());

  async function create(name: string, rule: string, replicas: number): Promise<void> {
    const deployment = aDeployment({ name, replicas });
    deployment.metadata.annotations = { [RULE]: rule };
    await lab.client.create(Deployment, deployment);
    await lab.kubectl('expose', `deployment/${name}`, '--port=80');
    await rolledOut(name);
  }

  async function rolledOut(name: string): Promise<void> {
    const { code, stderr } = await lab.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=120s');
    expect(code, stderr).toBe(0);
  }

  async function image(name: string, version: string): Promise<void> {
    await lab.kubectl('set', 'image', `deployment/${name}`, `web=web:${version}`);
    await rolledOut(name);
  }

  /** The pods that drain, of one image if it is named. */
  async function draining(name: string, version?: string): Promise<readonly string[]> {
    const pods = (await lab.pods()).filter(
      ({ metadata, spec }) =>
        metadata.labels?.[DRAINING] === name &&
        metadata.deletionTimestamp === undefined &&
        (version === undefined || spec.containers[0]?.image === `web:${version}`),
    );
    return pods.map(({ metadata }) => metadata.name).toSorted();
  }

  const drainingAre = (name: string, count: number): Promise<unknown> =>
    waitFor(async () => (await draining(name)).length === count, {
      what: `${count} pods of ${name} to drain`,
      timeoutMs: 60_000,
    });

  async function endpoints(name: string): Promise<readonly string[]> {
    const path = '{.items[*].endpoints[*].targetRef.name}';
    const args = ['get', 'endpointslices', '-l', `kubernetes.io/service-name=${name}`];
    const { stdout } = await lab.kubectl(...args, '-o', `jsonpath=${path}`);
    return stdout.trim().split(' ').filter(Boolean);
  }

  it('outlive a rollout outside of the Service, pod by pod, although the leader is killed [argo-rollouts#4597, #3761]', async () => {
    await create('web', BY_ANNOTATION, 3);
    await image('web', '2');
    const old = await draining('web', '1');
    expect(old).toHaveLength(3);
    await waitFor(async () => (await endpoints('web')).length === 3, { what: 'its endpoints' });
    expect((await endpoints('web')).filter((pod) => old.includes(pod))).toEqual([]);
    const explained = await lab.rollkeeper('explain', 'deployment/web');
    expect(explained.stdout).toContain('3 pods of 1 old version drain outside of the Service');
    await lab.killLeader();
    await lab.kubectl('annotate', 'pod', old[0] ?? '', 'example.com/sessions=0');
    await drainingAre('web', 2);
    expect(await draining('web')).toEqual(old.slice(1));
    const told = await lab.kubectl('get', 'events', '--field-selector', 'reason=PodDrained', '-o', 'name');
    expect(told.stdout.trim().split('\n')).toHaveLength(1);
  });

  it('outlive the rollouts after that as well, for as many old versions as are allowed', async () => {
    await image('web', '3');
    expect([(await draining('web', '1')).length, (await draining('web', '2')).length]).toEqual([2, 3]);
    await image('web', '4');
    await drainingAre('web', 6);
    expect(await draining('web', '1')).toEqual([]);
  });

  it('are not taken up again when a rollout is undone: new pods serve', async () => {
    const before = await draining('web', '3');
    await lab.kubectl('rollout', 'undo', 'deployment/web');
    await rolledOut('web');
    expect(await draining('web', '3')).toEqual(before);
    expect((await endpoints('web')).filter((pod) => before.includes(pod))).toEqual([]);
  });

  it('end with their Deployment', async () => {
    await lab.kubectl('delete', 'deployment', 'web');
    await drainingAre('web', 0);
  });

  it('are asked for at the address of the pod alone: no redirect is followed [argo-rollouts#4926]', async () => {
    const asked: string[] = [];
    let answer: { readonly status: number; readonly body: string } = { status: 302, body: '0' };
    const server: Server = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(answer.status, { location: '/elsewhere' }).end(answer.body);
    });
    await new Promise<void>((listening) => server.listen(0, '0.0.0.0', listening));
    try {
      const { port } = server.address() as AddressInfo;
      await create('calls', `until "http :${port}/sessions == 0", at most 1h`, 1);
      const [pod] = (await lab.pods()).filter(({ metadata }) => metadata.labels?.['app'] === 'calls');
      const podIP = ownAddress();
      const body = { status: { podIP, podIPs: [{ ip: podIP }] } };
      const ref = { namespace: 'default', name: pod?.metadata.name ?? '' };
      await lab.client.patch<Pod>(Pod, ref, { type: 'merge', body }, { subresource: 'status' });
      await image('calls', '2');
      await waitFor(() => Promise.resolve(asked.length > 0), { what: 'a probe', timeoutMs: 30_000 });
      expect(await draining('calls')).toHaveLength(1);
      answer = { status: 200, body: '0\n' };
      await drainingAre('calls', 0);
      expect(new Set(asked)).toEqual(new Set(['/sessions']));
    } finally {
      server.close();
    }
  });
});

/** An address of this machine that another machine could reach it by. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal);
  if (!found) throw new Error('this machine has no address beside the loopback');
  return found.address;
}
