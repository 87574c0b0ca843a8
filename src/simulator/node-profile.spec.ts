import { describe, expect, it } from 'vitest';
import { CAPACITY_ANNOTATION, NODE_BEHAVIOUR_ANNOTATION, nodeAnnotationProblems } from './node-behaviour.js';
import { newNode } from './node-object.js';
import { parseNodeProfiles } from './node-profile.js';
import { compileNodeSimulatorOptions } from './node-simulator.options.js';
import { annotationProblems } from './pod-annotations.js';
import { startingPod } from './pod-lifecycle.fixture.js';

const FILE = `
profiles:
  - count: 2
    labels: { topology.kubernetes.io/zone: a }
    taints: [{ key: gpu, value: "yes", effect: NoSchedule }]
    capacity: { cpu: 8, example.com/gpu: 2 }
    allocatable: { cpu: 7500m }
    imagePullAfter: 2s
    kubelet: { evictionHard: { memory.available: 5% }, shutdownGracePeriod: 1m }
  - annotations: { example.com/rack: r1 }
`;

describe('a file of node profiles', () => {
  const options = compileNodeSimulatorOptions({ nodes: 4, profiles: parseNodeProfiles(FILE) });
  const node = (index: number) => newNode(index, options, 0);

  it('makes the first nodes like its first profile, and the rest like the last', () => {
    expect(node(1)).toMatchObject({
      metadata: { labels: { 'kubernetes.io/hostname': 'node-1', 'topology.kubernetes.io/zone': 'a' } },
      spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
      status: {
        capacity: { cpu: '8', memory: '1024Gi', 'example.com/gpu': '2' },
        allocatable: { cpu: '7500m', 'example.com/gpu': '2' },
      },
    });
    for (const index of [2, 3]) {
      expect(node(index).metadata.annotations).toMatchObject({ 'example.com/rack': 'r1' });
      expect(node(index).spec?.taints).toBeUndefined();
      expect(node(index).status?.capacity).not.toHaveProperty(['example.com/gpu']);
    }
  });

  it('may be a list alone, and JSON', () => {
    expect(parseNodeProfiles('[{"count": 1}]')).toEqual([{ count: 1 }]);
  });

  it.each([
    ['profiles: [{ cuont: 2 }]', /^node-profiles\.0: .*cuont/],
    ['- count: 0', /^node-profiles\.0\.count: /],
    ['- capacity: { cpu: many }', /^node-profiles\.0\.capacity\.cpu: is no quantity/],
    ['- capacity: { cpu: -1 }', /^node-profiles\.0\.capacity\.cpu: is no quantity/],
    ['- {}\n- taints: [{ key: a, effect: Never }]', /^node-profiles\.1\.taints\.0\.effect: /],
    ['- labels: { "a b": c }', /^node-profiles\.0\.labels/],
    ['- imagePullAfter: soon', /^node-profiles\.0\.imagePullAfter: "soon" is no duration/],
    [
      '- kubelet: { evictionHard: { memory.available: 200% } }',
      /^node-profiles\.0\.kubelet\.evictionHard\.memory\.available: /,
    ],
    ['- kubelet: { evictionHard: { pid.available: 1 } }', /^node-profiles\.0\.kubelet\.evictionHard: /],
    [
      '- kubelet: { shutdownGracePeriod: 5s }',
      /^node-profiles\.0\.kubelet\.shutdownGracePeriodCriticalPods: must not be longer/,
    ],
    ['nodes: []', /^node-profiles: has no field "nodes"/],
    ['text', /^node-profiles: must be a list/],
    ['a: [', /^node-profiles: /],
  ])('with %j is refused, and the field named', (content, message) => {
    expect(() => parseNodeProfiles(content)).toThrow(message);
  });

  it('must not be for more nodes than there are, nor take all that are left twice', () => {
    expect(() => compileNodeSimulatorOptions({ nodes: 1, profiles: [{ count: 2 }] })).toThrow(
      'profiles: are for 2 nodes, and there are 1',
    );
    expect(() => compileNodeSimulatorOptions({ nodes: 3, profiles: [{}, { count: 1 }] })).toThrow(
      'profiles.0.count: is needed',
    );
  });
});

describe('profiles that cannot be read', () => {
  it('in annotations of a pod is reported, with the expected form', () => {
    const annotations = {
      'node.rollkeeper.dev/ready-after': '5',
      'node.rollkeeper.dev/liveness-probe.web': 'dies',
      'node.rollkeeper.dev/stops-after': 'never',
      'node.rollkeeper.dev/exit-code.web': '999',
      'node.rollkeeper.dev/logs': 'anything',
    };
    expect(annotationProblems(startingPod({ annotations })).map(({ message }) => message)).toEqual([
      'node.rollkeeper.dev/ready-after: "5" is not a duration, as 5s or 1m30s',
      'node.rollkeeper.dev/liveness-probe.web: "dies" is not succeeds, fails, succeeds after 20s, fails after 30s or flaps 20s 5s',
      'node.rollkeeper.dev/exit-code.web: "999" is not a number from 0 to 255',
    ]);
  });

  it('in annotations of a node as well', () => {
    const annotations = {
      [NODE_BEHAVIOUR_ANNOTATION]: 'silent, asleep',
      [CAPACITY_ANNOTATION]: 'cpu=4,memory=lots,gpu',
    };
    const problems = nodeAnnotationProblems({ metadata: { name: 'node-0', annotations } });
    expect(problems[0]).toMatch(
      /^node\.rollkeeper\.dev\/behaviour: "asleep" is not one of silent, gone, not-ready/,
    );
    expect(problems.slice(1)).toEqual([
      'node.rollkeeper.dev/capacity: "memory=lots" is not NAME=QUANTITY',
      'node.rollkeeper.dev/capacity: "gpu" is not NAME=QUANTITY',
    ]);
  });
});
