import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../machinery/clock/index.js';
import type { PodSpec } from '../machinery/kubernetes/index.js';
import { Node, Pod } from '../machinery/kubernetes/index.js';
import { silentLogger } from '../machinery/logging/index.js';
import { FakeCluster } from '../testing/fake-cluster.js';
import { FakeInformers } from '../testing/fake-informers.js';
import { MemoryEventRecorder } from '../testing/memory-event-recorder.js';
import { STOPS_AFTER_ANNOTATION } from './decide-stop.js';
import { CAPACITY_ANNOTATION, NODE_BEHAVIOUR_ANNOTATION, SYSTEM_USAGE_ANNOTATION } from './node-behaviour.js';
import { NodeSimulator } from './node-simulator.js';
import { compileNodeSimulatorOptions } from './node-simulator.options.js';

let clock: FakeClock;
let cluster: FakeCluster;
let events: MemoryEventRecorder;
let stop: () => Promise<void>;

beforeEach(async () => {
  clock = new FakeClock();
  cluster = new FakeCluster(clock);
  events = new MemoryEventRecorder();
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
    compileNodeSimulatorOptions({ nodes: 2, cpus: 8, memoryGiB: 1 }),
  );
  const stopper = new AbortController();
  await simulator.register(stopper.signal);
  const done = simulator.run(stopper.signal);
  stop = async () => {
    stopper.abort();
    await done;
  };
  await clock.advance(0);
});
afterEach(() => stop());

const putPod = (name: string, annotations: Record<string, string> = {}, spec: Partial<PodSpec> = {}) =>
  cluster.seed<Pod>(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', annotations },
    spec: { nodeName: 'node-0', containers: [{ name: 'main', image: 'nginx' }], ...spec },
    status: { phase: 'Pending' },
  });
const pod = (name: string) => cluster.peek<Pod>(Pod, `default/${name}`);
const using = (memory: string) => ({ 'node.rollkeeper.dev/memory-usage': memory });
const node = () => cluster.peek<Node>(Node, 'node-0');
const conditionOf = (type: string) => node()?.status?.conditions?.find((one) => one.type === type);

async function annotate(annotations: Record<string, string | null>): Promise<void> {
  await cluster.patch(Node, { name: 'node-0' }, { type: 'merge', body: { metadata: { annotations } } });
  await clock.advance(0);
}

describe('a node that lacks memory', () => {
  it('says so, and evicts pods, one in 10 s, until it has enough', async () => {
    putPod('greedy', using('600Mi'));
    putPod('modest', using('200Mi'));
    await clock.advance(0);
    expect(conditionOf('MemoryPressure')?.status).toBe('False');
    await annotate({ [SYSTEM_USAGE_ANNOTATION]: 'memory=400Mi' });
    expect(conditionOf('MemoryPressure')).toMatchObject({
      status: 'True',
      reason: 'KubeletHasInsufficientMemory',
    });
    expect(pod('greedy')?.status).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
    expect(pod('greedy')?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', reason: 'TerminationByKubelet' }),
    );
    await clock.advance(299_000);
    expect(pod('modest')?.status?.phase).toBe('Running');
    expect(conditionOf('MemoryPressure')?.status, 'for five minutes more').toBe('True');
    await clock.advance(1_000);
    expect(conditionOf('MemoryPressure')?.status).toBe('False');
    expect(events.lines.map((line) => line.split(' ')[1])).toEqual([
      'NodeHasInsufficientMemory',
      'EvictionThresholdMet',
      'Evicted',
      'NodeHasSufficientMemory',
    ]);
  });

  it('has more pressure with each pod that says it uses more', async () => {
    putPod('first', using('500Mi'));
    putPod('second', using('200Mi'));
    await clock.advance(0);
    const body = { metadata: { annotations: using('900Mi') } };
    await cluster.patch(Pod, { namespace: 'default', name: 'second' }, { type: 'merge', body });
    await clock.advance(0);
    expect(pod('second')?.status?.reason).toBe('Evicted');
    await clock.advance(30_000);
    expect(pod('first')?.status?.phase).toBe('Running');
  });
});

describe('a node under pressure that it is told to have', () => {
  it('evicts a pod each 10 s, turns new ones away, and is well when it is told no more', async () => {
    putPod('a');
    putPod('b');
    await clock.advance(0);
    await annotate({ [NODE_BEHAVIOUR_ANNOTATION]: 'disk-pressure' });
    const evicted = () => ['a', 'b'].filter((name) => pod(name)?.status?.reason === 'Evicted');
    expect(evicted()).toHaveLength(1);
    await clock.advance(10_000);
    expect(evicted()).toHaveLength(2);
    putPod('late');
    await clock.advance(0);
    expect(pod('late')?.status).toMatchObject({
      phase: 'Failed',
      reason: 'Evicted',
      message: 'Pod was rejected: The node had condition: [DiskPressure]. ',
    });
    await annotate({ [NODE_BEHAVIOUR_ANNOTATION]: null });
    expect(conditionOf('DiskPressure')?.status).toBe('False');
    putPod('later');
    await clock.advance(0);
    expect(pod('later')?.status?.phase).toBe('Running');
  });

  it('says that it is not ready, and takes it back', async () => {
    await annotate({ [NODE_BEHAVIOUR_ANNOTATION]: 'not-ready' });
    expect(conditionOf('Ready')).toMatchObject({
      status: 'False',
      reason: 'KubeletNotReady',
      message: 'container runtime is down',
    });
    await annotate({ [NODE_BEHAVIOUR_ANNOTATION]: null });
    expect(conditionOf('Ready')?.status).toBe('True');
    expect(events.lines.map((line) => line.split(' ')[1])).toEqual(['NodeNotReady', 'NodeReady']);
  });
});

describe('a node whose capacity is changed', () => {
  it('reports it at once, and takes no more than that; without the annotation it has what it had', async () => {
    await annotate({ [CAPACITY_ANNOTATION]: 'cpu=2,example.com/gpu=1' });
    expect(node()?.status).toMatchObject({
      capacity: { cpu: '2', 'example.com/gpu': '1', memory: '1Gi' },
      allocatable: { cpu: '2', 'example.com/gpu': '1' },
    });
    const asks = { requests: { cpu: '3' } };
    putPod('large', {}, { containers: [{ name: 'main', image: 'nginx', resources: asks }] });
    await clock.advance(0);
    expect(pod('large')?.status).toMatchObject({
      reason: 'OutOfcpu',
      message:
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
    });
    await annotate({ [CAPACITY_ANNOTATION]: null });
    expect(node()?.status?.capacity).toMatchObject({ cpu: '8' });
    expect(node()?.status?.capacity).not.toHaveProperty(['example.com/gpu']);
  });

  it('leaves what others have added to it', async () => {
    const body = { status: { capacity: { 'example.com/fpga': '3' } } };
    await cluster.patch(Node, { name: 'node-0' }, { type: 'merge', body }, { subresource: 'status' });
    await annotate({ [CAPACITY_ANNOTATION]: 'cpu=2' });
    expect(node()?.status?.capacity).toMatchObject({ cpu: '2', 'example.com/fpga': '3' });
  });
});

describe('a node that shuts down', () => {
  it('ends its pods in order, turns new ones away, falls silent, and is back when it is told no more', async () => {
    putPod('plain', { [STOPS_AFTER_ANNOTATION]: '4s' });
    putPod('critical', {}, { priority: 2_000_000_000 });
    await clock.advance(0);
    await annotate({ [NODE_BEHAVIOUR_ANNOTATION]: 'shutdown' });
    expect(conditionOf('Ready')).toMatchObject({ status: 'False', message: 'node is shutting down' });
    putPod('late');
    await clock.advance(3_999);
    expect(pod('plain')?.status?.phase).toBe('Running');
    expect(pod('critical')?.status?.phase).toBe('Running');
    expect(pod('late')?.status).toMatchObject({ phase: 'Failed', reason: 'NodeShutdown' });
    await clock.advance(1);
    for (const name of ['plain', 'critical'])
      expect(pod(name)?.status).toMatchObject({
        phase: 'Failed',
        reason: 'Terminated',
        message: 'Pod was terminated in response to imminent node shutdown.',
      });
    expect(pod('plain')?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
    const before = cluster.requests.length;
    putPod('unseen');
    await clock.advance(60_000);
    expect(pod('unseen')?.status?.phase).toBe('Pending');
    const beats = cluster.requests.slice(before).filter(({ key }) => key.endsWith('node-0'));
    expect(beats).toEqual([]);
    await annotate({ [NODE_BEHAVIOUR_ANNOTATION]: null });
    expect(conditionOf('Ready')?.status).toBe('True');
    expect(pod('unseen')?.status?.phase).toBe('Running');
  });
});

it('a node that is gone does not come back when its Node is deleted, but when it is made again', async () => {
  await annotate({ [NODE_BEHAVIOUR_ANNOTATION]: 'gone' });
  await cluster.delete(Node, { name: 'node-0' });
  await clock.advance(60_000);
  expect(node()).toBeUndefined();
  cluster.seed<Node>(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-0' } });
  await clock.advance(20_000);
  expect(conditionOf('Ready')?.status).toBe('True');
});

it('costs nothing where nothing is wrong and nothing is asked', async () => {
  for (let index = 0; index < 20; index++) putPod(`pod-${index}`);
  await clock.advance(0);
  const before = cluster.requests.length;
  await clock.advance(9_000);
  expect(cluster.requests.length).toBe(before);
});
