import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../src/testing/wait-for.js';
import { kubectls } from './support/kubectl.js';
import { SharedUp } from './support/shared-up.js';

const NAMESPACE = 'scheduling';
/** A port of its own: other tests share the nodes. */
const PORT = 18_473;

const [kubectl] = kubectls();

describe.skipIf(!kubectl)('pods on the nodes of `up`, with kubectl', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));
  let up: SharedUp;

  beforeAll(async () => {
    // No other test adds nodes to this set meanwhile: the messages count them.
    up = await SharedUp.take('leases');
    await succeed('create', 'namespace', NAMESPACE);
    const priority = {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'above-others' },
    };
    await apply({ ...priority, value: 1000 });
  });
  afterAll(async () => {
    await succeed('delete', 'priorityclass', 'above-others');
    await succeed('delete', 'namespace', NAMESPACE, '--wait=false');
    await up.give();
    rmSync(folder, { recursive: true });
  });

  const succeed = async (...args: string[]): Promise<string> => {
    const { code, stderr, stdout } = await up.kubectl(kubectl?.binary ?? '', ['-n', NAMESPACE, ...args]);
    expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
    return stdout;
  };
  const apply = async (object: object): Promise<void> => {
    const file = join(folder, 'object.json');
    writeFileSync(file, JSON.stringify(object));
    await succeed('apply', '-f', file);
  };
  const applyPods = (replicas: number, name: string, spec: object): Promise<void> =>
    apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
        },
      },
    });
  const messagesOf = async (name: string): Promise<string[]> => {
    const path = '{range .items[*]}{.status.conditions[?(@.type=="PodScheduled")].message}{"\\n"}{end}';
    const text = await succeed('get', 'pods', '-l', `app=${name}`, '-o', `jsonpath=${path}`);
    return text.split('\n').filter((line) => line !== '');
  };
  const nodesOf = async (name: string): Promise<string[]> => {
    const path = '{range .items[*]}{.spec.nodeName}{"\\n"}{end}';
    const text = await succeed('get', 'pods', '-l', `app=${name}`, '-o', `jsonpath=${path}`);
    return text.split('\n').filter((line) => line !== '');
  };
  const refusalOf = (name: string, pods = 1): Promise<string> =>
    waitFor(
      async () => {
        const messages = await messagesOf(name);
        return messages.length === pods && messages[0];
      },
      { what: `${pods} refused pods of ${name}` },
    );

  const refused = (reason: string, preemption: string): string =>
    `0/3 nodes are available: 3 ${reason}. no new claims to deallocate, preemption: 0/3 nodes are available: 3 ${preemption}.`;
  const NO_VICTIMS = 'No preemption victims found for incoming pod';
  const NOT_HELPFUL = 'Preemption is not helpful for scheduling';

  it('five that keep apart from each other: two wait, with the genuine words', async () => {
    const labelSelector = { matchLabels: { app: 'apart' } };
    const term = { labelSelector, topologyKey: 'kubernetes.io/hostname' };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    await applyPods(5, 'apart', { affinity });
    expect(await refusalOf('apart', 2)).toBe(
      refused("node(s) didn't match pod anti-affinity rules", NO_VICTIMS),
    );
    expect((await nodesOf('apart')).toSorted()).toEqual(['node-0', 'node-1', 'node-2']);
  });

  it.each([
    [
      'a resource that no node has',
      'gpu',
      { containers: [{ name: 'main', image: 'nginx', resources: { limits: { 'nvidia.com/gpu': '1' } } }] },
      'Insufficient nvidia.com/gpu',
    ],
    [
      'an init container that is too large',
      'init',
      { initContainers: [{ name: 'first', image: 'busybox', resources: { requests: { cpu: '5000' } } }] },
      'Insufficient cpu',
    ],
  ])('one with %s waits', async (_what, name, spec, reason) => {
    await applyPods(1, name, spec);
    expect(await refusalOf(name)).toBe(refused(reason, NOT_HELPFUL));
  });

  it('wait for one host port: of four one does; one of higher priority takes the place of another', async () => {
    const ports = [{ containerPort: 80, hostPort: PORT }];
    const containers = [{ name: 'main', image: 'nginx', ports }];
    await applyPods(4, 'ports', { containers });
    expect(await refusalOf('ports')).toBe(
      refused("node(s) didn't have free ports for the requested pod ports", NO_VICTIMS),
    );
    await applyPods(1, 'vip', { containers, priorityClassName: 'above-others' });
    await succeed('rollout', 'status', 'deployment/vip', '--timeout=60s');
    const path = '{range .items[?(@.reason=="Preempted")]}{.message}{"\\n"}{end}';
    const told = await waitFor(
      async () => {
        const text = await succeed('get', 'events', '-o', `jsonpath=${path}`);
        return text !== '' && text.trim().split('\n');
      },
      { what: 'the event' },
    );
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^Preempted by pod [0-9a-f-]+ on node node-\d$/);
  });

  it('one that is gated waits until the gate is taken away', async () => {
    await apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'gated' },
      spec: {
        schedulingGates: [{ name: 'example.com/wait' }],
        containers: [{ name: 'main', image: 'nginx' }],
      },
    });
    expect(await succeed('get', 'pod', 'gated', '-o', 'jsonpath={.spec.nodeName}')).toBe('');
    await succeed(
      'patch',
      'pod',
      'gated',
      '--type=json',
      '-p',
      '[{"op":"remove","path":"/spec/schedulingGates/0"}]',
    );
    await succeed('wait', 'pod/gated', '--for=condition=Ready', '--timeout=60s');
  });
});
