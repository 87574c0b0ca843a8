import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../machinery/clock/index.js';
import type { PodSpec } from '../machinery/kubernetes/index.js';
import { Lease, Node, Pod } from '../machinery/kubernetes/index.js';
import { TimeoutError } from '../machinery/errors/index.js';
import { silentLogger } from '../machinery/logging/index.js';
import { ApiConnectionError } from '../client/api-client/index.js';
import { FakeCluster, refusal } from '../testing/fake-cluster.js';
import { FakeInformers } from '../testing/fake-informers.js';
import { MemoryEventRecorder } from '../testing/memory-event-recorder.js';
import { NodeSimulator } from './node-simulator.js';
import type { NodeSimulatorOptions } from './node-simulator.options.js';
import { compileNodeSimulatorOptions } from './node-simulator.options.js';

let clock: FakeClock;
let cluster: FakeCluster;
let events: MemoryEventRecorder;
let stoppers: (() => Promise<void>)[] = [];

beforeEach(() => {
  clock = new FakeClock();
  cluster = new FakeCluster(clock);
  events = new MemoryEventRecorder();
});

afterEach(async () => {
  for (const stop of stoppers) await stop();
  stoppers = [];
});

function make(options: NodeSimulatorOptions = {}) {
  const informers = new FakeInformers(cluster);
  const simulator = new NodeSimulator(
    {
      client: cluster,
      pods: informers.informerFor<Pod>(Pod),
      nodes: informers.informerFor<Node>(Node),
      events,
      clock,
      logger: silentLogger,
    },
    compileNodeSimulatorOptions(options),
  );
  return { informers, simulator };
}

async function start(options: NodeSimulatorOptions = {}) {
  const { informers, simulator } = make(options);
  const stopper = new AbortController();
  await simulator.register(stopper.signal);
  const done = simulator.run(stopper.signal);
  const stop = async (): Promise<void> => {
    stopper.abort();
    await done;
  };
  stoppers.push(stop);
  await clock.advance(0);
  return { informers, stop };
}

/** A pod that is bound to the first node unless it names another. */
function putPod(name: string, spec: Partial<PodSpec> = {}, annotations: Record<string, string> = {}) {
  return cluster.seed<Pod>(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', annotations },
    spec: { nodeName: 'node-0', containers: [{ name: 'main', image: 'nginx' }], ...spec },
    status: { phase: 'Pending' },
  });
}

const pod = (name: string) => cluster.peek<Pod>(Pod, `default/${name}`);
const isReady = (name: string) =>
  pod(name)?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

describe('NodeSimulator', () => {
  it('registers its nodes, ready and with room, and keeps their leases fresh', async () => {
    await start({ nodes: 2 });
    expect(cluster.all(Node).map(({ metadata }) => metadata.name)).toEqual(['node-0', 'node-1']);
    const node = cluster.peek<Node>(Node, 'node-0');
    expect(node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    const renewTime = () => cluster.peek<Lease>(Lease, 'kube-node-lease/node-1')?.spec?.renewTime;
    const before = renewTime();
    await clock.advance(10_000);
    expect(before).toBe('2026-01-01T00:00:00.000000Z');
    expect(renewTime()).toBe('2026-01-01T00:00:10.000000Z');
  });

  it('registers its nodes although no answer comes for a while, pausing longer each time', async () => {
    const failures = [
      new TimeoutError('nothing came for 32000 ms'),
      new ApiConnectionError('socket hang up'),
      refusal(500, 'InternalError', 'the store does not answer'),
      refusal(429, 'TooManyRequests', 'too many requests'),
    ];
    const askedAtMs: number[] = [];
    cluster.intercept = () => {
      askedAtMs.push(clock.monotonicNow());
      return failures.shift();
    };
    const registered = make({ nodes: 1 }).simulator.register(new AbortController().signal);
    for (const pauseMs of [100, 200, 400, 800]) {
      await clock.advance(pauseMs - 1);
      expect(cluster.all(Node)).toEqual([]);
      await clock.advance(1);
    }
    await registered;
    expect(askedAtMs.slice(0, 5).map((atMs) => atMs - (askedAtMs[0] ?? 0))).toEqual([0, 100, 300, 700, 1500]);
    expect(cluster.all(Node)).toHaveLength(1);
  });

  it('does not try again what the server refuses', async () => {
    cluster.intercept = () => refusal(403, 'Forbidden', 'no');
    const { simulator } = make();
    await expect(simulator.register(new AbortController().signal)).rejects.toThrow('no');
    expect(cluster.requests).toHaveLength(1);
  });

  it('tries no longer when it is stopped', async () => {
    cluster.intercept = () => new ApiConnectionError('connection refused');
    const stopper = new AbortController();
    const ended = expect(make().simulator.register(stopper.signal)).rejects.toThrow('enough');
    await clock.advance(1000);
    stopper.abort(new Error('enough'));
    await ended;
  });

  it('says with its next heartbeat that a node is ready of which others have said that nobody knows', async () => {
    await start({ nodes: 1 });
    const ready = () =>
      cluster.peek<Node>(Node, 'node-0')?.status?.conditions?.find(({ type }) => type === 'Ready');
    const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }];
    const body = { status: { conditions } };
    await cluster.patch(Node, { name: 'node-0' }, { type: 'merge', body }, { subresource: 'status' });
    await clock.advance(9_999);
    expect(ready()?.status).toBe('Unknown');
    await clock.advance(1);
    expect(ready()).toMatchObject({ status: 'True', reason: 'KubeletReady' });
    const writes = cluster.requests.filter(({ verb }) => verb !== 'get').length;
    await clock.advance(10_000);
    expect(cluster.requests.filter(({ verb }) => verb !== 'get').length - writes, 'the lease alone').toBe(1);
  });

  it('registers a node again that somebody deleted', async () => {
    await start({ nodes: 1 });
    cluster.vanish(Node, 'node-0');
    cluster.vanish(Lease, 'kube-node-lease/node-0');
    await clock.advance(10_000);
    expect(cluster.peek(Node, 'node-0')).toBeDefined();
  });

  it('makes each pod ready by one write, with an address of its own', async () => {
    await start({ nodes: 3 });
    const writes = cluster.requests.length;
    for (let index = 0; index < 30; index++) putPod(`pod-${index}`, { nodeName: `node-${index % 3}` });
    await clock.advance(0);
    const pods = cluster.all<Pod>(Pod);
    expect(pods.every(({ metadata }) => isReady(metadata.name))).toBe(true);
    expect(new Set(pods.map(({ status }) => status?.podIP)).size).toBe(30);
    expect(cluster.requests.length - writes).toBe(30);
  });

  it('takes deleted pods out of the API', async () => {
    await start();
    putPod('pod');
    await clock.advance(0);
    await cluster.delete(Pod, { namespace: 'default', name: 'pod' });
    await clock.advance(0);
    expect(pod('pod')).toBeUndefined();
    expect(cluster.requests.at(-1)?.deleteOptions).toMatchObject({ gracePeriodSeconds: 0 });
    expect(cluster.requests.at(-1)?.deleteOptions?.preconditions?.uid).toBeDefined();
  });

  it('keeps no timer for a pod that is deleted before it is due', async () => {
    await start({ nodes: 1 });
    const before = clock.pendingTimers;
    putPod('slow', {}, { 'node.rollkeeper.dev/ready-after': '3600s' });
    await clock.advance(1);
    expect(clock.pendingTimers).toBe(before + 1);
    cluster.vanish(Pod, 'default/slow');
    await clock.advance(1);
    expect(clock.pendingTimers).toBe(before);
  });

  it('lets containers take their time to start and to stop', async () => {
    await start({ readyDelayMs: 50, terminationDelayMs: 200 });
    putPod('pod');
    await clock.advance(49);
    expect([pod('pod')?.status?.phase, isReady('pod')]).toEqual(['Running', false]);
    await clock.advance(1);
    expect(isReady('pod')).toBe(true);
    await cluster.delete(Pod, { namespace: 'default', name: 'pod' });
    await clock.advance(199);
    expect(pod('pod')).toBeDefined();
    await clock.advance(1);
    expect(pod('pod')).toBeUndefined();
  });

  it('runs pods that are bound to its nodes, and leaves those of other nodes and of none alone', async () => {
    await start();
    putPod('mine', { nodeName: 'node-2' });
    putPod('foreign', { nodeName: 'elsewhere' });
    putPod('unbound', { nodeName: '' });
    await clock.advance(0);
    expect(isReady('mine')).toBe(true);
    expect([pod('foreign')?.status?.phase, pod('unbound')?.status?.phase]).toEqual(['Pending', 'Pending']);
  });

  it('goes on where it was stopped, without a write for pods that are well', async () => {
    const { stop } = await start();
    putPod('well');
    putPod('crashing', { containers: [{ name: 'main', image: 'crash:1' }] });
    await clock.advance(5_000);
    await stop();
    const before = cluster.requests.filter(({ type }) => type.resource === 'pods').length;
    await start();
    await clock.advance(0);
    expect(cluster.requests.filter(({ type }) => type.resource === 'pods')).toHaveLength(before);
    await clock.advance(10_000);
    expect(pod('crashing')?.status?.containerStatuses?.[0]?.restartCount).toBe(2);
  });

  it('tells of trouble by events', async () => {
    await start();
    putPod('pull', { containers: [{ name: 'main', image: 'nginx:does-not-exist' }] });
    await clock.advance(3_000);
    expect(events.lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'Normal Pulling',
      'Warning Failed',
      'Warning Failed',
      'Normal BackOff',
      'Warning Failed',
    ]);
  });

  it('tries again after a server error', async () => {
    await start();
    let failures = 3;
    cluster.intercept = ({ verb, type }) =>
      verb === 'patch' && type.resource === 'pods' && failures-- > 0
        ? new Error('connection reset')
        : undefined;
    putPod('pod');
    await clock.advance(700);
    expect(isReady('pod')).toBe(true);
  });

  it('does not act on its own writes twice while its cache is behind', async () => {
    const { informers } = await start({ readyDelayMs: 10 });
    putPod('pod');
    informers.pause();
    await clock.advance(0);
    const writes = cluster.requests.length;
    await clock.advance(10);
    expect(isReady('pod')).toBe(true);
    expect(cluster.requests.length - writes).toBe(1);
  });

  it('leaves no timer behind when it stops', async () => {
    const { stop } = await start();
    putPod('crashing', { containers: [{ name: 'main', image: 'crash:1' }] });
    await clock.advance(0);
    await stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
