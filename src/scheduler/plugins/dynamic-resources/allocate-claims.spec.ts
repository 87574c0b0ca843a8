import { describe, expect, it } from 'vitest';
import { viewOf } from '../../decide/random-world.fixture.js';
import type { CompileDeviceSelector } from '../../framework/device-selector.js';
import type { ReadableNode } from '../../framework/node-info.js';
import { allocateClaims } from './allocate-claims.js';
import { allocatedDevices } from './allocated-devices.js';
import { allocationOf } from './allocation-result.js';
import { DeviceMatcher } from './device-matcher.js';
import type {
  AllocatedDevice,
  Allocation,
  Device,
  DeviceConstraint,
  DeviceRequest,
  ReadableClaim,
  ReadableSlice,
  ResourceSlice,
  WantedDevices,
} from './resource-api.js';

const DRIVER = 'gpu.example.com';
const NODE: ReadableNode = {
  ...{ apiVersion: 'v1', kind: 'Node' },
  metadata: { name: 'node', labels: { rack: '1' } },
};

/** Selects by the attribute `model`. */
const byModel: CompileDeviceSelector = (model) => (device) => device.attributes['model']?.string === model;

const object = (kind: string, name: string) => ({
  apiVersion: 'resource.k8s.io/v1',
  kind,
  metadata: { name, namespace: 'a', uid: name },
});
const aSlice = (spec: Partial<ResourceSlice['spec']> = {}): ReadableSlice => ({
  ...object('ResourceSlice', 'slice'),
  spec: {
    driver: DRIVER,
    pool: { name: 'pool', generation: 1, resourceSliceCount: 1 },
    nodeName: 'node',
    ...spec,
  },
});
const devices = (...names: readonly string[]): Device[] =>
  names.map((name) => ({ name, attributes: { model: { string: name[0]! } } }));

interface ClaimParts {
  readonly constraints?: readonly DeviceConstraint[];
  readonly allocation?: Allocation;
  readonly config?: readonly { requests?: readonly string[]; opaque?: unknown }[];
}

const aClaim = (
  name: string,
  requests: readonly DeviceRequest[],
  { allocation, ...parts }: ClaimParts = {},
): ReadableClaim => ({
  ...object('ResourceClaim', name),
  spec: { devices: { requests, ...parts } },
  ...(allocation && { status: { allocation } }),
});
const exactly = (wanted: Partial<WantedDevices> = {}, name = 'r'): DeviceRequest => ({
  name,
  exactly: { deviceClassName: 'gpu', ...wanted },
});
const model = (expression: string) => ({ selectors: [{ cel: { expression } }] });

interface Case {
  readonly slices?: readonly ReadableSlice[];
  readonly others?: readonly ReadableClaim[];
}

function allocate(
  claims: readonly ReadableClaim[],
  { others = [], slices = [aSlice({ devices: devices('a1', 'a2', 'b1') })] }: Case = {},
) {
  const classes = [
    {
      ...object('DeviceClass', 'gpu'),
      metadata: { name: 'gpu' },
      spec: { config: [{ opaque: 'of class' }] },
    },
  ];
  const view = viewOf({
    'resource.k8s.io/deviceclasses': classes,
    'resource.k8s.io/resourceclaims': others as never,
  });
  const allocated = allocatedDevices(view);
  return allocateClaims({ claims, node: NODE, slices, allocated, matcher: new DeviceMatcher(byModel), view });
}

const names = (found: ReturnType<typeof allocate>) =>
  found?.map((claim) => claim.devices.map(({ device }) => device.name));
const holding = (device: string, parts: Partial<AllocatedDevice> = {}): ReadableClaim =>
  aClaim('other', [], {
    allocation: { devices: { results: [{ request: 'r', driver: DRIVER, pool: 'pool', device, ...parts }] } },
  });

describe('a claim gets', () => {
  it('the first devices that its request selects', () => {
    expect(names(allocate([aClaim('c', [exactly({ count: 2 })])]))).toEqual([['a1', 'a2']]);
    expect(names(allocate([aClaim('c', [exactly(model('b'))])]))).toEqual([['b1']]);
  });

  it('no device that another claim has', () => {
    expect(names(allocate([aClaim('c', [exactly()])], { others: [holding('a1')] }))).toEqual([['a2']]);
    expect(allocate([aClaim('c', [exactly(model('b'))])], { others: [holding('b1')] })).toBeUndefined();
  });

  it('a device beside its owner where it is for administrators, but not twice', () => {
    const others = [holding('b1')];
    const admin = { ...model('b'), adminAccess: true };
    expect(names(allocate([aClaim('c', [exactly(admin)])], { others }))).toEqual([['b1']]);
    expect(allocate([aClaim('c', [exactly(admin, 'r'), exactly(admin, 's')])], { others })).toBeUndefined();
    expect(
      names(
        allocate([aClaim('c', [exactly(model('b'))])], { others: [holding('b1', { adminAccess: true })] }),
      ),
    ).toEqual([['b1']]);
  });

  it('the rest when other claims of the pod choose otherwise', () => {
    // Taken in order, the first claim would get a1 and leave none for the second.
    const claims = [aClaim('any', [exactly()]), aClaim('a', [exactly({ ...model('a'), count: 2 })])];
    expect(names(allocate(claims))).toEqual([['b1'], ['a1', 'a2']]);
  });

  it('the first alternative that can be had', () => {
    const firstAvailable = [
      { name: 'many', deviceClassName: 'gpu', count: 4 },
      { name: 'two', deviceClassName: 'gpu', count: 2 },
      { name: 'one', deviceClassName: 'gpu' },
    ];
    const found = allocate([aClaim('c', [{ name: 'r', firstAvailable }])]);
    expect(found?.[0]?.taken).toEqual([1]);
    expect(allocationOf(found![0]!, () => 'share').devices?.results?.map(({ request }) => request)).toEqual([
      'r/two',
      'r/two',
    ]);
  });

  it('all devices that it selects, or nothing', () => {
    const all = aClaim('c', [exactly({ ...model('a'), allocationMode: 'All' })]);
    expect(names(allocate([all]))).toEqual([['a1', 'a2']]);
    expect(allocate([all], { others: [holding('a2')] })).toBeUndefined();
    expect(allocate([aClaim('c', [exactly({ ...model('x'), allocationMode: 'All' })])])).toBeUndefined();
  });

  it.each<[what: string, constraint: DeviceConstraint, expected: readonly string[] | undefined]>([
    ['of one model', { matchAttribute: `${DRIVER}/model` }, ['b1', 'b2']],
    ['of different models', { distinctAttribute: `${DRIVER}/model` }, ['a1', 'b1']],
    ['of nothing that has no such attribute', { matchAttribute: `${DRIVER}/size` }, undefined],
    [
      'of any kind, where the constraint is about another request',
      { requests: ['s'], matchAttribute: `${DRIVER}/size` },
      ['a1', 'b1'],
    ],
  ])('devices %s', (_what, constraint, expected) => {
    const slices = [aSlice({ devices: devices('a1', 'b1', 'b2') })];
    const found = allocate([aClaim('c', [exactly({ count: 2 })], { constraints: [constraint] })], { slices });
    expect(names(found)?.[0]).toEqual(expected);
  });

  it('no tainted device that it does not tolerate', () => {
    const taints = [{ key: 'broken', effect: 'NoSchedule' as const }];
    const slices = [aSlice({ devices: [{ name: 'a', taints }] })];
    expect(allocate([aClaim('c', [exactly()])], { slices })).toBeUndefined();
    const tolerations = [{ key: 'broken', operator: 'Exists' }];
    expect(names(allocate([aClaim('c', [exactly({ tolerations })])], { slices }))).toEqual([['a']]);
  });

  it('partitions as long as their counters last', () => {
    const partition = (name: string, value: string): Device => ({
      name,
      consumesCounters: [{ counterSet: 'card', counters: { memory: { value } } }],
    });
    const slices = [
      aSlice({
        sharedCounters: [{ name: 'card', counters: { memory: { value: '10Gi' } } }],
        devices: [partition('large', '8Gi'), partition('middle', '5Gi'), partition('other', '5Gi')],
      }),
    ];
    expect(names(allocate([aClaim('c', [exactly({ count: 2 })])], { slices }))).toEqual([
      ['middle', 'other'],
    ]);
    expect(allocate([aClaim('c', [exactly()])], { slices, others: [holding('large')] })).toBeUndefined();
  });

  it('shares of a device as long as its capacity lasts', () => {
    const capacity = {
      memory: { value: '10Gi', requestPolicy: { default: '1Gi', validRange: { min: '2Gi', step: '2Gi' } } },
    };
    const slices = [aSlice({ devices: [{ name: 'card', allowMultipleAllocations: true, capacity }] })];
    const asking = (memory: string) => exactly({ capacity: { requests: { memory } } });
    const share = holding('card', { shareID: 's', consumedCapacity: { memory: '6Gi' } });
    const found = allocate([aClaim('c', [asking('3Gi')])], { slices, others: [share] });
    expect(allocationOf(found![0]!, () => 'id').devices?.results).toEqual([
      {
        request: 'r',
        driver: DRIVER,
        pool: 'pool',
        device: 'card',
        shareID: 'id',
        consumedCapacity: { memory: '4Gi' },
      },
    ]);
    expect(allocate([aClaim('c', [asking('5Gi')])], { slices, others: [share] })).toBeUndefined();
    expect(names(allocate([aClaim('c', [exactly(), exactly({}, 's')])], { slices }))).toEqual([
      ['card', 'card'],
    ]);
  });
});

describe('a pool', () => {
  const claim = aClaim('c', [exactly()]);
  it.each<[what: string, spec: Partial<ResourceSlice['spec']>, has: boolean]>([
    ['of the node', { nodeName: 'node' }, true],
    ['of another node', { nodeName: 'other' }, false],
    ['of all nodes', { nodeName: undefined, allNodes: true }, true],
    [
      'of nodes with a label',
      {
        nodeName: undefined,
        nodeSelector: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'rack', operator: 'In', values: ['1'] }] }],
        },
      },
      true,
    ],
    ['that is being replaced', { pool: { name: 'pool', generation: 1, resourceSliceCount: 2 } }, false],
  ])('%s: %s', (_what, spec, has) => {
    expect(allocate([claim], { slices: [aSlice({ devices: devices('a'), ...spec })] }) !== undefined).toBe(
      has,
    );
  });

  it('counts in its newest generation alone', () => {
    const pool = { name: 'pool', generation: 2, resourceSliceCount: 1 };
    const slices = [aSlice({ devices: devices('old') }), aSlice({ devices: devices('new'), pool })];
    expect(names(allocate([claim], { slices }))).toEqual([['new']]);
  });

  it('has each device on the nodes that the device names', () => {
    const on = (name: string, nodeName: string): Device => ({ name, nodeName });
    const slices = [
      aSlice({
        nodeName: undefined,
        perDeviceNodeSelection: true,
        devices: [on('x', 'other'), on('y', 'node')],
      }),
    ];
    expect(names(allocate([claim], { slices }))).toEqual([['y']]);
  });

  it('keeps, while it is incomplete, those from any allocation who want all', () => {
    const slices = [
      aSlice({ devices: devices('a'), pool: { name: 'pool', generation: 1, resourceSliceCount: 2 } }),
    ];
    expect(() => allocate([aClaim('c', [exactly({ allocationMode: 'All' })])], { slices })).toThrow(
      'claim a/c, request r: asks for all devices, but resource pool gpu.example.com/pool is currently being updated',
    );
  });
});

describe('an allocation', () => {
  it('names devices, the node they are on, and the configuration of class and claim', () => {
    const config = [
      { opaque: 'of claim' },
      { requests: ['r'], opaque: 'of one' },
      { requests: ['x'], opaque: 'of none' },
    ];
    const [found] = allocate([aClaim('c', [exactly(), exactly({}, 's')], { config })])!;
    expect(allocationOf(found!, () => 'share')).toEqual({
      devices: {
        results: [
          { request: 'r', driver: DRIVER, pool: 'pool', device: 'a1' },
          { request: 's', driver: DRIVER, pool: 'pool', device: 'a2' },
        ],
        config: [
          { source: 'FromClass', opaque: 'of class' },
          { source: 'FromClaim', opaque: 'of claim' },
          { source: 'FromClaim', requests: ['r'], opaque: 'of one' },
        ],
      },
      nodeSelector: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node'] }] }],
      },
    });
  });

  it('is good everywhere, where its devices are', () => {
    const slices = [aSlice({ devices: devices('a'), nodeName: undefined, allNodes: true })];
    const [found] = allocate([aClaim('c', [exactly()])], { slices })!;
    expect(allocationOf(found!, () => 'share').nodeSelector).toBeUndefined();
  });
});
