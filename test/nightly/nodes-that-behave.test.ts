import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';

const run = promisify(execFile);
const kubectl = anyKubectl();
const IMAGE = 'nginx:1.27';

/** A pod of one container, with annotations behind `node.rollkeeper.dev/`. */
function manifest(name: string, annotations: Record<string, string>, container: object = {}): string {
  const named = Object.entries(annotations).map(([key, value]) => [`node.rollkeeper.dev/${key}`, value]);
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations: Object.fromEntries(named) as Record<string, string> },
    spec: { containers: [{ name: 'main', image: IMAGE, ...container }] },
  });
}

describe.skipIf(!kubectl)('the columns of kubectl for nodes that behave', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await startTestCluster({
      clock: 'manual',
      controllers: ['node-lifecycle', 'taint-eviction', 'namespace', 'serviceaccount'],
      nodes: {
        nodes: 2,
        profiles: [{ count: 1, capacity: { cpu: 4, memory: '4Gi' }, labels: { kind: 'small' } }, {}],
      },
    });
  });
  afterAll(() => cluster.stop());

  const ask = async (...args: string[]): Promise<string> => {
    const flags = ['--kubeconfig', cluster.kubeconfig.path, ...args];
    return (await run(kubectl?.binary ?? '', flags)).stdout;
  };
  const apply = async (json: string): Promise<void> => {
    const child = run(kubectl?.binary ?? '', ['--kubeconfig', cluster.kubeconfig.path, 'apply', '-f', '-']);
    child.child.stdin?.end(json);
    await child;
    await cluster.settled();
  };
  /** The line of `kubectl get pods`: ready, status, restarts. */
  const pod = async (name: string): Promise<string> => {
    const [ready, status, restarts] = (await ask('get', 'pod', name, '--no-headers')).split(/\s+/).slice(1);
    return `${ready} ${status} ${restarts}`;
  };
  const advance = async (seconds: number): Promise<void> => {
    await cluster.clock.advance(seconds * 1000);
    await cluster.settled();
  };
  const described = (kind: string, name: string, text: RegExp | string): Promise<unknown> =>
    waitFor(async () => (await ask('describe', kind, name)).match(text) !== null, {
      what: `${kind} ${name} to be described with ${text}`,
    });

  it('an image that takes time and fails at first', async () => {
    await apply(manifest('pulling', { 'image-pull-after': '5s', 'image-pull-failures': '1' }));
    expect(await pod('pulling')).toBe('0/1 ContainerCreating 0');
    await advance(5);
    expect(await pod('pulling')).toBe('0/1 ErrImagePull 0');
    await advance(2);
    expect(await pod('pulling')).toBe('0/1 ImagePullBackOff 0');
    await advance(13);
    expect(await pod('pulling')).toBe('1/1 Running 0');
    await described('pod', 'pulling', /Successfully pulled image "nginx:1.27" in 5s/);
  });

  it('probes that flap, and one that has a container killed', async () => {
    const probe = { httpGet: { path: '/', port: 80 }, periodSeconds: 5, failureThreshold: 1 };
    await apply(manifest('flapping', { 'readiness-probe': 'flaps 10s' }, { readinessProbe: probe }));
    expect(await pod('flapping')).toBe('1/1 Running 0');
    await advance(10);
    expect(await pod('flapping')).toBe('0/1 Running 0');
    await advance(10);
    expect(await pod('flapping')).toBe('1/1 Running 0');
    await described('pod', 'flapping', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
    await apply(manifest('dying', { 'liveness-probe': 'fails after 7s' }, { livenessProbe: probe }));
    await advance(10);
    expect(await pod('dying')).toBe('0/1 Error 0');
    await advance(1);
    expect(await pod('dying')).toMatch(/^1\/1 Running 1/);
    await advance(10);
    expect(await pod('dying')).toMatch(/^0\/1 CrashLoopBackOff 1/);
    await described('pod', 'dying', 'Container main failed liveness probe, will be restarted');
  });

  it('a container that stops slowly', async () => {
    await apply(manifest('slow', { 'stops-after': '8s' }));
    const deleted = ask('delete', 'pod', 'slow');
    await waitFor(async () => (await pod('slow')).includes('Terminating'), { what: 'the deletion to begin' });
    await advance(7);
    expect(await pod('slow')).toContain('Terminating');
    await advance(1);
    expect(await deleted).toContain('pod "slow" deleted');
  });

  it('a node whose capacity changes, that lacks memory, and that shuts down', async () => {
    const annotate = async (text: string): Promise<void> => {
      await ask('annotate', 'node', 'node-0', '--overwrite', `node.rollkeeper.dev/${text}`);
      await cluster.settled();
    };
    const allocatable = (): Promise<string> =>
      ask('get', 'node', 'node-0', '-o', 'jsonpath={.status.allocatable.cpu}/{.metadata.labels.kind}');
    expect(await allocatable()).toBe('4/small');
    await annotate('capacity=cpu=2');
    expect(await allocatable()).toBe('2/small');
    const onNode = { nodeSelector: { kind: 'small' }, tolerations: [{ operator: 'Exists' }] };
    const greedy = JSON.parse(manifest('greedy', { 'memory-usage': '5Gi' })) as { spec: object };
    greedy.spec = { ...greedy.spec, ...onNode };
    await apply(JSON.stringify(greedy));
    expect(await pod('greedy')).toBe('0/1 Error 0');
    await described('pod', 'greedy', /Reason: +Evicted/);
    expect(await ask('describe', 'node', 'node-0')).toMatch(/MemoryPressure +True/);
    expect(await ask('describe', 'node', 'node-0')).toContain(
      'node.kubernetes.io/memory-pressure:NoSchedule',
    );
    await described('pod', 'greedy', 'The node was low on resource: memory. Threshold quantity: 100Mi');
    await annotate('behaviour=shutdown');
    expect(await ask('get', 'node', 'node-0')).toContain('NotReady');
    await annotate('behaviour-');
    expect(await ask('get', 'node', 'node-0')).toMatch(/ Ready /);
  });
});
