import { describe, expect, it } from 'vitest';
import type { Pod, PodSpec, Taint } from '../machinery/kubernetes/index.js';
import type { NodeTrouble } from './node-object.js';
import { decideAdmission } from './decide-admission.js';
import { decideShutdown } from './decide-shutdown.js';
import { decideStarvation, decideVictim, evictionVerdict } from './decide-pressure.js';
import type { NodeUsage } from './decide-pressure.js';
import { PLAIN_PROFILE } from './node-profile.js';
import { START, startingPod, play } from './pod-lifecycle.fixture.js';

const CRITICAL = 2_000_000_000;

/** A running pod that uses so much memory of what it requests. */
function running(name: string, uses: string, requests = '0', spec: Partial<PodSpec> = {}): Pod {
  const containers = [{ name: 'main', image: 'nginx', resources: { requests: { memory: requests } } }];
  const annotations = { 'node.rollkeeper.dev/memory-usage': uses, 'node.rollkeeper.dev/disk-usage': uses };
  return play(startingPod({ name, uid: name, annotations }, { containers, ...spec }), 0).pod;
}
const usageOf = (pods: readonly Pod[], more: Partial<NodeUsage> = {}): NodeUsage => ({
  capacity: { memory: '1Gi', 'ephemeral-storage': '10Gi' },
  system: {},
  pods,
  evictionHard: PLAIN_PROFILE.evictionHard,
  ...more,
});

describe('a node', () => {
  it('is short of memory when less than 100Mi are left, by what its pods and its system use', () => {
    expect(decideStarvation('memory', usageOf([running('a', '900Mi')]))).toBeUndefined();
    expect(decideStarvation('memory', usageOf([running('a', '925Mi')]))).toMatchObject({
      resource: 'memory',
    });
    const system = { memory: '500Mi' };
    expect(decideStarvation('memory', usageOf([running('a', '500Mi')], { system }))).toBeDefined();
  });

  it('is short of disk when less than 10 % are left, or as its profile says', () => {
    expect(decideStarvation('ephemeral-storage', usageOf([running('a', '9Gi')]))).toBeUndefined();
    expect(decideStarvation('ephemeral-storage', usageOf([running('a', '9217Mi')]))).toBeDefined();
    const evictionHard = { 'memory.available': '0', 'nodefs.available': '50%' };
    expect(
      decideStarvation('ephemeral-storage', usageOf([running('a', '6Gi')], { evictionHard })),
    ).toBeDefined();
    expect(decideStarvation('memory', usageOf([running('a', '2Gi')], { evictionHard }))).toBeUndefined();
  });

  it('evicts one that uses more than it requested, then by priority, then by how much more', () => {
    const modest = running('modest', '100Mi', '200Mi', { priority: -5 });
    const greedy = running('greedy', '300Mi', '200Mi', { priority: 10 });
    const greedier = running('greedier', '500Mi', '200Mi', { priority: 10 });
    const lowly = running('lowly', '201Mi', '200Mi', { priority: 5 });
    const critical = running('critical', '900Mi', '0', { priority: CRITICAL });
    const all = [modest, greedy, critical, greedier, lowly];
    const order: string[] = [];
    for (
      let left = all;
      left.length > 1;
      left = left.filter(({ metadata }) => !order.includes(metadata.name))
    )
      order.push(decideVictim(left, 'memory')!.metadata.name);
    expect(order).toEqual(['lowly', 'greedier', 'greedy', 'modest']);
    expect(decideVictim([critical], 'memory')).toBeUndefined();
  });

  it('says of an evicted pod what a kubelet says', () => {
    const pod = running('a', '500Mi', '200Mi');
    const starved = decideStarvation('memory', usageOf([pod], { system: { memory: '500Mi' } }));
    expect(evictionVerdict(pod, 'memory', starved)).toEqual({
      reason: 'Evicted',
      isDisruption: true,
      message:
        'The node was low on resource: memory. Threshold quantity: 100Mi, available: 24Mi. ' +
        'Container main was using 500Mi, request is 200Mi, has larger consumption of memory. ',
    });
  });
});

describe('the admission of a node', () => {
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-0', labels: { zone: 'a' } },
    status: { allocatable: { cpu: '4', memory: '1Gi', pods: '2' } },
  };
  const admit = (
    pod: Pod,
    { there = 0, troubles = [] as NodeTrouble[], taints = [] as Taint[], others = [] as Pod[] } = {},
  ) =>
    decideAdmission(pod, {
      node: { ...node, spec: { taints } },
      troubles: new Set(troubles),
      room: () => ({ allocatable: node.status.allocatable, taken: { cpu: '3' } }),
      neighbours: () => [...others, ...Array.from({ length: there }, () => startingPod({}, {}))],
    });
  const asking = (requests: Record<string, string>, spec: Partial<PodSpec> = {}) =>
    startingPod({}, { containers: [{ name: 'main', image: 'nginx', resources: { requests } }], ...spec });

  it('takes what fits', () => {
    expect(admit(asking({ cpu: '1' }))).toBeUndefined();
    expect(admit(asking({}), { there: 1 })).toBeUndefined();
  });

  it.each([
    [
      asking({ cpu: '1500m' }),
      0,
      'OutOfcpu',
      "Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000",
    ],
    [
      asking({ 'example.com/gpu': '1' }),
      0,
      'OutOfexample.com/gpu',
      "Node didn't have enough resource: example.com/gpu, requested: 1, used: 0, capacity: 0",
    ],
    [
      asking({}),
      2,
      'OutOfpods',
      "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2",
    ],
    [
      asking({}, { nodeSelector: { zone: 'b' } }),
      0,
      'NodeAffinity',
      "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
  ])('turns away what does not, and no scheduler has bound', (pod, there, reason, message) => {
    expect(admit(pod, { there })).toEqual({ reason, message });
    pod.status = { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] };
    expect(admit(pod, { there })).toBeUndefined();
  });

  const withPort = (hostPort: number, hostIP?: string): Pod =>
    startingPod(
      {},
      {
        containers: [{ name: 'main', image: 'nginx', ports: [{ containerPort: 80, hostPort, hostIP }] }],
      },
    );

  it('turns away pods that want a port of the node which another pod has on that address', () => {
    const reason = (pod: Pod, other: Pod) => admit(pod, { others: [other] })?.reason;
    expect(admit(withPort(80), { others: [withPort(80)] })).toEqual({
      reason: 'NodePorts',
      message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    });
    expect(reason(withPort(80, '10.0.0.1'), withPort(80))).toBe('NodePorts');
    expect(reason(withPort(80, '10.0.0.1'), withPort(80, '10.0.0.2'))).toBeUndefined();
    expect(reason(withPort(81), withPort(80))).toBeUndefined();
  });

  it('turns away pods that do not tolerate its NoExecute taints, or are for another operating system', () => {
    const taint = (effect: Taint['effect']): Taint => ({ key: 'broken', effect });
    expect(admit(asking({}), { taints: [taint('NoExecute')] })).toEqual({
      reason: 'TaintToleration',
      message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    });
    expect(admit(asking({}), { taints: [taint('NoSchedule')] })).toBeUndefined();
    const tolerations = [{ operator: 'Exists' as const }];
    expect(admit(asking({}, { tolerations }), { taints: [taint('NoExecute')] })).toBeUndefined();
    expect(admit(asking({}, { os: { name: 'windows' } }))?.reason).toBe('PodOSNotSupported');
    expect(admit(asking({}, { os: { name: 'linux' } }))).toBeUndefined();
  });

  it('under memory pressure turns away pods that request nothing, unless they tolerate it', () => {
    const troubles: NodeTrouble[] = ['memory-pressure'];
    expect(admit(asking({}), { troubles })).toEqual({
      reason: 'Evicted',
      message: 'The node had condition: [MemoryPressure]. ',
    });
    expect(admit(asking({ cpu: '1' }), { troubles })).toBeUndefined();
    const tolerations = [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' as const }];
    expect(admit(asking({}, { tolerations }), { troubles })).toBeUndefined();
  });

  it('under disk pressure turns away all but critical ones, and while it shuts down those too', () => {
    const critical = asking({}, { priority: CRITICAL });
    expect(admit(asking({ cpu: '1' }), { troubles: ['disk-pressure'] })?.reason).toBe('Evicted');
    expect(admit(critical, { troubles: ['disk-pressure'] })).toBeUndefined();
    expect(admit(critical, { troubles: ['shutdown'] })).toEqual({
      reason: 'NodeShutdown',
      message: 'Pod was rejected as the node is shutting down.',
    });
  });
});

describe('a node that shuts down', () => {
  const plain = running('plain', '1Mi');
  const critical = running('critical', '1Mi', '0', { priority: CRITICAL, terminationGracePeriodSeconds: 3 });
  const shutDown = (pods: readonly Pod[], atS: number, ordered: readonly string[] = []) => {
    const orderedMs = new Map(ordered.map((uid) => [uid, START]));
    const plan = decideShutdown(pods, START, PLAIN_PROFILE, orderedMs, START + atS * 1000);
    const orders = plan.orders.map(({ pod, verdict }) => [pod.metadata.name, (verdict.graceMs ?? 0) / 1000]);
    return { ...plan, orders };
  };

  it('ends critical pods when the others have ended, each with its share of the time', () => {
    expect(shutDown([plain, critical], 0)).toEqual({
      orders: [['plain', 20]],
      isOver: false,
      wakeAtMs: START + 20_000,
    });
    expect(shutDown([plain, critical], 5, ['plain']).orders).toEqual([]);
    const ended: Pod = { ...plain, status: { ...plain.status, phase: 'Failed' } };
    expect(shutDown([ended, critical], 6, ['plain']).orders).toEqual([['critical', 3]]);
    expect(shutDown([ended, ended], 7).isOver).toBe(true);
  });

  it('does not wait longer than the time that each group has', () => {
    expect(shutDown([plain, critical], 20, ['plain']).orders).toEqual([['critical', 3]]);
    expect(shutDown([plain, critical], 30, ['plain', 'critical']).isOver).toBe(true);
  });
});
