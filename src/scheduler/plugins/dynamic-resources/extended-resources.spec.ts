import { SeededRandom } from '@rollkeeper/machinery/clock';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { describe, expect, it } from 'vitest';
import { SchedulerCache } from '../../cache/scheduler-cache.js';
import { decidePod } from '../../decide/decide-pod.js';
import { viewOf } from '../../decide/random-world.fixture.js';
import { compileProfile } from '../../framework/compile-profile.js';
import type { ReadableNode, ReadablePod } from '../../framework/node-info.js';
import { nodeInfoOf } from '../../node/node-info.js';
import { podInfoOf } from '../../node/pod-info.js';
import { DEFAULT_PLUGINS } from '../../run/default-plugins.js';
import { deviceClassOf } from './device-classes.js';
import { extendedClaimFor } from './extended-claim.js';

const GPU = 'example.com/gpu';
const NIC = 'deviceclass.resource.kubernetes.io/nic';

const object = (kind: string, name: string, parts: object = {}, metadata: object = {}): KubernetesObject => ({
  ...{ apiVersion: 'v1', kind, metadata: { name, uid: name, ...metadata } },
  ...parts,
});
const aClass = (name: string, extendedResourceName?: string, creationTimestamp = '2026-01-01T00:00:00Z') =>
  object('DeviceClass', name, { spec: { extendedResourceName } }, { creationTimestamp });
const aNode = (name: string, allocatable: object = {}): ReadableNode => ({
  ...object('Node', name),
  status: { allocatable: { cpu: '8', memory: '8Gi', pods: '10', ...allocatable } },
});
const aSlice = (node: string, ...devices: readonly string[]) =>
  object('ResourceSlice', `of-${node}`, {
    spec: {
      driver: 'gpu.example.com',
      nodeName: node,
      pool: { name: node, generation: 1, resourceSliceCount: 1 },
      devices: devices.map((name) => ({ name })),
    },
  });

type Requests = Readonly<Record<string, string>>;
interface Containers {
  readonly main?: readonly Requests[];
  /** The containers that end before the main ones begin. */
  readonly init?: readonly Requests[];
  readonly sidecars?: readonly Requests[];
}
const containers = (prefix: string, all: readonly Requests[] = [], parts: object = {}) =>
  all.map((requests, index) => ({ name: `${prefix}${index}`, resources: { requests }, ...parts }));
const podAsking = ({ init, main = [{ [GPU]: '1' }], sidecars }: Containers = {}): ReadablePod => ({
  ...object('Pod', 'web', {}, { namespace: 'a' }),
  spec: {
    initContainers: [
      ...containers('init', init),
      ...containers('side', sidecars, { restartPolicy: 'Always' }),
    ],
    containers: containers('main', main),
  },
});

interface World {
  readonly classes?: readonly KubernetesObject[];
  readonly slices?: readonly KubernetesObject[];
  readonly claims?: readonly KubernetesObject[];
  readonly nodes?: readonly ReadableNode[];
}

function viewIn({ claims = [], classes = [aClass('gpu', GPU), aClass('nic')], slices = [] }: World) {
  return viewOf({
    'resource.k8s.io/deviceclasses': classes,
    'resource.k8s.io/resourceslices': slices,
    'resource.k8s.io/resourceclaims': claims,
  });
}

function decide(pod: ReadablePod, world: World) {
  const { nodes = [aNode('a'), aNode('b')] } = world;
  const view = viewIn(world);
  const cache = new SchedulerCache();
  for (const node of nodes) cache.setNode(node);
  const handle = { view, log: silentLogger, compileDeviceSelector: () => () => true };
  const profile = compileProfile({
    plugins: DEFAULT_PLUGINS.map(({ create, weight }) => ({ plugin: create(undefined, handle), weight })),
  });
  const random = new SeededRandom(1);
  return decidePod({
    ...{ pod: podInfoOf(pod), snapshot: cache.snapshot(), nominated: cache.nominated, view, profile },
    ...{ random, startIndex: 0 },
  });
}

/** The requests in the claim of the pod's extended resources, and the mappings as `container resource: request`. */
function claimOf(pod: ReadablePod, node = aNode('a')) {
  const found = extendedClaimFor(podInfoOf(pod), nodeInfoOf(node), viewIn({}));
  if (!found || 'code' in found) return found;
  return {
    requests: (found.claim.spec.devices?.requests ?? []).map(({ exactly, name }) => [
      name,
      exactly?.deviceClassName,
      exactly?.count,
    ]),
    mappings: found.mappings.map((each) => `${each.containerName} ${each.resourceName}: ${each.requestName}`),
  };
}

describe('the device class of an extended resource', () => {
  const find = (resource: string, ...classes: readonly KubernetesObject[]) =>
    deviceClassOf(resource, viewIn({ classes }))?.metadata.name;

  it('is the one that names it, or whose name it has', () => {
    expect(find(GPU, aClass('other'), aClass('gpu', GPU))).toBe('gpu');
    expect(find(NIC, aClass('nic', GPU))).toBe('nic');
    expect(find(GPU, aClass('other'))).toBeUndefined();
    expect(find('cpu', aClass('cpu'))).toBeUndefined();
  });

  it('is the newest of several, and of those the first by name', () => {
    const newer = '2026-02-01T00:00:00Z';
    expect(find(GPU, aClass('a', GPU), aClass('z', GPU, newer), aClass('y', GPU, newer))).toBe('y');
  });
});

describe('the claim of a pod’s extended resources', () => {
  it('has a request for each container and resource, called by their places', () => {
    expect(
      claimOf(
        podAsking({
          main: [
            { cpu: '1', [GPU]: '2' },
            { [GPU]: '1', [NIC]: '1' },
          ],
        }),
      ),
    ).toEqual({
      requests: [
        ['container-0-request-1', 'gpu', 2],
        ['container-1-request-0', 'nic', 1],
        ['container-1-request-1', 'gpu', 1],
      ],
      mappings: [
        `main1 ${NIC}: container-1-request-0`,
        `main0 ${GPU}: container-0-request-1`,
        `main1 ${GPU}: container-1-request-1`,
      ],
    });
  });

  it('lets init containers use the devices of later containers, and share what they need beyond', () => {
    const pod = podAsking({ init: [{ [GPU]: '1' }, { [GPU]: '4' }, { [GPU]: '5' }], main: [{ [GPU]: '2' }] });
    expect(claimOf(pod)).toEqual({
      requests: [
        ['container-2-request-0', 'gpu', 3],
        ['container-3-request-0', 'gpu', 2],
      ],
      mappings: [
        `main0 ${GPU}: container-3-request-0`,
        `init0 ${GPU}: container-3-request-0`,
        `init1 ${GPU}: container-3-request-0`,
        `init1 ${GPU}: container-2-request-0`,
        `init2 ${GPU}: container-3-request-0`,
        `init2 ${GPU}: container-2-request-0`,
      ],
    });
  });

  it('counts sidecars among those that go on running', () => {
    expect(claimOf(podAsking({ sidecars: [{ [GPU]: '1' }], main: [{ [GPU]: '1' }] }))).toMatchObject({
      requests: [
        ['container-0-request-0', 'gpu', 1],
        ['container-1-request-0', 'gpu', 1],
      ],
    });
  });

  it('leaves to the node what it has itself', () => {
    const pod = podAsking({ main: [{ [GPU]: '1', [NIC]: '1' }] });
    expect(claimOf(pod, aNode('a', { [GPU]: '4' }))).toMatchObject({
      requests: [['container-0-request-0', 'nic', 1]],
    });
    expect(claimOf(podAsking(), aNode('a', { [GPU]: '4' }))).toBeUndefined();
  });
});

describe('a pod that asks for an extended resource', () => {
  it('goes where a device of the class is free', () => {
    const decision = decide(podAsking(), { slices: [aSlice('b', 'gpu-0')] });
    expect(decision.kind === 'chosen' && decision.node.name).toBe('b');
  });

  it('goes to a node that has the resource itself, with devices nowhere', () => {
    const decision = decide(podAsking(), { nodes: [aNode('a'), aNode('b', { [GPU]: '1' })] });
    expect(decision.kind === 'chosen' && decision.node.name).toBe('b');
  });

  it('waits where no device is free, in the genuine words', () => {
    const decision = decide(podAsking({ main: [{ [GPU]: '2' }] }), { slices: [aSlice('b', 'gpu-0')] });
    expect(decision).toMatchObject({
      kind: 'refused',
      message:
        '0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
    });
  });

  it('is short of it on nodes where no class provides it', () => {
    expect(decide(podAsking(), { classes: [], slices: [aSlice('b', 'gpu-0')] })).toMatchObject({
      message: expect.stringContaining('2 Insufficient example.com/gpu') as string,
    });
  });

  it('has the claim that an earlier attempt left deleted first', () => {
    const left = object(
      'ResourceClaim',
      'web-extended-resources-x',
      { spec: { devices: { requests: [{ name: 'container-0-request-0' }] } } },
      {
        namespace: 'a',
        annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'web', controller: true }],
      },
    );
    expect(decide(podAsking(), { slices: [aSlice('b', 'gpu-0')], claims: [left] })).toMatchObject({
      message: expect.stringContaining(
        '2 cannot schedule extended resource claim. deletion of ResourceClaim completed',
      ) as string,
      deallocate: { namespace: 'a', name: 'web-extended-resources-x', isDeleted: true },
    });
  });
});
