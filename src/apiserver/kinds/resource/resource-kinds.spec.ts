import { describe, expect, it } from 'vitest';
import type { Fields } from './device-objects.fixture.js';
import { claiming, exactly, made, problems } from './device-objects.fixture.js';
import { DEVICE_CLASS_KIND } from './device-class.kind.js';
import { RESOURCE_CLAIM_KIND, RESOURCE_CLAIM_TEMPLATE_KIND } from './resource-claim.kinds.js';
import { RESOURCE_SLICE_KIND } from './resource-slice.kind.js';

describe('a ResourceClaim', () => {
  it('asks for one device where it does not say how many', () => {
    expect(made(RESOURCE_CLAIM_KIND, claiming(exactly())).spec).toEqual(
      claiming(exactly({ allocationMode: 'ExactCount', count: 1 })),
    );
    expect(made(RESOURCE_CLAIM_KIND, claiming(exactly({ allocationMode: 'All' }))).spec).toEqual(
      claiming(exactly({ allocationMode: 'All' })),
    );
  });

  const cel = (expression: string) => exactly({ selectors: [{ cel: { expression } }] });
  const opaque = { driver: 'd.x', parameters: { a: 1 } };
  it.each<[string, Fields, RegExp[]]>([
    ['an expression about its devices', claiming(cel('device.attributes["x.y"].model == "a"')), []],
    [
      'an expression that is none',
      claiming(cel('device.nope == 1')),
      [/cel\.expression: Invalid value: .*compilation failed/],
    ],
    ['an expression that gives no verdict', claiming(cel('device.driver')), [/must evaluate to bool/]],
    ['no class', claiming(exactly({ deviceClassName: '' })), [/exactly\.deviceClassName: Required value/]],
    [
      'no devices',
      claiming(exactly({ count: -1 })),
      [/exactly\.count: Invalid value: -1: must be greater than zero/],
    ],
    [
      'all of them, and a number',
      claiming(exactly({ allocationMode: 'All', count: 2 })),
      [/must not be specified when allocationMode is 'All'/],
    ],
    [
      'neither this nor that',
      claiming({ name: 'r' }),
      [/\[0\]: Required value: exactly one of `exactly` or `firstAvailable`/],
    ],
    [
      'both',
      claiming({ ...exactly(), firstAvailable: [{ name: 's', deviceClassName: 'c' }] }),
      [/but multiple fields are set/],
    ],
    ['one name twice', claiming(exactly(), exactly()), [/requests\[1\]: Duplicate value: "r"/]],
    ['a name that is no label', claiming(exactly({}, 'A')), [/requests\[0\]\.name: Invalid value: "A"/]],
    [
      'a constraint on an alternative',
      {
        devices: {
          requests: [{ name: 'r', firstAvailable: [{ name: 's', deviceClassName: 'c' }] }],
          constraints: [{ requests: ['r/s'], matchAttribute: 'a.b/c' }],
        },
      },
      [],
    ],
    [
      'a constraint on nothing that is asked for',
      { devices: { requests: [exactly()], constraints: [{ requests: ['q'], matchAttribute: 'a.b/c' }] } },
      [/constraints\[0\]\.requests\[0\]: Invalid value: "q": must be the name of a request/],
    ],
    [
      'a constraint without an attribute',
      { devices: { requests: [exactly()], constraints: [{}] } },
      [/constraints\[0\]: Required value/],
    ],
    [
      'parameters for a driver',
      { devices: { requests: [exactly()], config: [{ requests: ['r'], opaque }] } },
      [],
    ],
    [
      'no parameters',
      { devices: { config: [{ opaque: { driver: 'd.x' } }] } },
      [/opaque\.parameters: Required value/],
    ],
    [
      'a toleration of everything, with a value',
      claiming(exactly({ tolerations: [{ operator: 'Exists', value: 'v' }] })),
      [/value: Invalid value: "v": must be empty/],
    ],
  ])('may or may not ask for %s', (_what, spec, expected) => {
    const found = problems(RESOURCE_CLAIM_KIND, spec);
    expect(found).toHaveLength(expected.length);
    expected.forEach((pattern, index) => expect(found[index]).toMatch(pattern));
    expect(found.every((text) => text.startsWith('spec.devices'))).toBe(true);
  });

  it('stays as it is', () => {
    const [old, next] = [
      made(RESOURCE_CLAIM_KIND, claiming(exactly())),
      made(RESOURCE_CLAIM_KIND, claiming()),
    ];
    expect(RESOURCE_CLAIM_KIND.validateUpdate(next, old, '')).toContainEqual(
      expect.objectContaining({
        field: 'spec',
        message: expect.stringContaining('field is immutable') as string,
      }),
    );
  });

  const result = { request: 'r', driver: 'd.x', pool: 'p', device: 'dev' };
  const allocation = { devices: { results: [result] } };
  const user = { resource: 'pods', name: 'p', uid: 'u' };
  it.each<[string, Fields, Fields, RegExp[]]>([
    ['of what it asks for', {}, { allocation }, []],
    [
      'of what it does not ask for',
      {},
      { allocation: { devices: { results: [{ ...result, request: 'q' }] } } },
      [/results\[0\]\.request: Invalid value: "q"/],
    ],
    [
      'once',
      { allocation },
      { allocation: { devices: { results: [{ ...result, device: 'other' }] } } },
      [/allocation: .*field is immutable/],
    ],
    ['and reserved', {}, { allocation, reservedFor: [user] }, []],
    [
      'before it is reserved',
      {},
      { reservedFor: [user] },
      [/reservedFor: Forbidden: may not be specified when `allocated` is not set/],
    ],
    [
      'to each user once',
      {},
      { allocation, reservedFor: [user, user] },
      [/reservedFor\[1\]: Duplicate value: "u"/],
    ],
    [
      'with a status of its devices alone',
      {},
      {
        allocation,
        devices: [
          { driver: 'd.x', pool: 'p', device: 'dev' },
          { driver: 'd.x', pool: 'p', device: 'no' },
        ],
      },
      [/devices\[1\]: Invalid value: "d\.x\/p\/no": must be an allocated device/],
    ],
  ])('is allocated %s', (_rule, before, after, expected) => {
    const old = made(RESOURCE_CLAIM_KIND, claiming(exactly()), before);
    const next = made(RESOURCE_CLAIM_KIND, claiming(exactly()), after);
    old.metadata.resourceVersion = next.metadata.resourceVersion = '1';
    const found = RESOURCE_CLAIM_KIND.validateUpdate(next, old, 'status').map(
      ({ field, message }) => `${field}: ${message}`,
    );
    expect(found).toHaveLength(expected.length);
    expected.forEach((pattern, index) => expect(found[index]).toMatch(pattern));
  });

  it.each<[Fields, string]>([
    [{}, 'pending'],
    [{ allocation }, 'allocated'],
    [{ allocation, reservedFor: [user] }, 'allocated,reserved'],
  ])('with the status %j is shown as %s', (status, state) => {
    expect(RESOURCE_CLAIM_KIND.toRow(made(RESOURCE_CLAIM_KIND, {}, status), 0)[1]).toBe(state);
  });
});

describe('a ResourceClaimTemplate', () => {
  it('has the rules of a claim', () => {
    expect(problems(RESOURCE_CLAIM_TEMPLATE_KIND, { spec: claiming(exactly()) })).toEqual([]);
    expect(problems(RESOURCE_CLAIM_TEMPLATE_KIND, { spec: claiming({ name: 'r' }) })).toEqual([
      expect.stringMatching(/^spec\.spec\.devices\.requests\[0\]: Required value/),
    ]);
    expect(problems(RESOURCE_CLAIM_TEMPLATE_KIND, { metadata: { labels: { a: 'b c' } }, spec: {} })).toEqual([
      expect.stringMatching(/^spec\.metadata\.labels: Invalid value: "b c"/),
    ]);
  });
});

describe('a DeviceClass', () => {
  it.each([
    ['example.com/gpu', true],
    ['gpu', false],
    ['kubernetes.io/gpu', false],
  ])('may stand in for the extended resource %s: %s', (extendedResourceName, isRight) => {
    expect(problems(DEVICE_CLASS_KIND, { extendedResourceName })).toHaveLength(isRight ? 0 : 1);
  });
});

describe('a ResourceSlice', () => {
  const pool = { name: 'p', resourceSliceCount: 1 };
  const slice = (fields: Fields = {}) => ({ driver: 'd.x', pool, nodeName: 'n', ...fields });
  const device = (fields: Fields) => slice({ devices: [{ name: 'd', ...fields }] });

  it.each<[string, Fields, RegExp[]]>([
    [
      'devices with attributes and capacities',
      device({
        attributes: { a: { int: 1 }, 'x.y/b': { version: '1.2.3' } },
        capacity: { memory: { value: '1Gi' } },
      }),
      [],
    ],
    ['no nodes', slice({ nodeName: undefined }), [/^spec: Required value: exactly one of/]],
    ['nodes in two ways', slice({ allNodes: true }), [/^spec: Invalid value: .*multiple fields are set/]],
    [
      'nodes by device',
      slice({ nodeName: undefined, perDeviceNodeSelection: true, devices: [{ name: 'd', allNodes: true }] }),
      [],
    ],
    [
      'nodes by device, without any',
      slice({ nodeName: undefined, perDeviceNodeSelection: true, devices: [{ name: 'd' }] }),
      [/devices\[0\]: Required value/],
    ],
    [
      'an attribute without a value',
      device({ attributes: { a: {} } }),
      [/attributes\[a\]: Invalid value: "": exactly one value must be specified/],
    ],
    [
      'an attribute with two values',
      device({ attributes: { a: { int: 1, bool: true } } }),
      [/exactly one value must be specified/],
    ],
    [
      'a version that is none',
      device({ attributes: { a: { version: '1' } } }),
      [/version: Invalid value: "1": must be a string compatible with semver/],
    ],
    [
      'a name that is no identifier',
      device({ attributes: { 'a-b': { int: 1 } } }),
      [/attributes\[a-b\]: Invalid value/],
    ],
    [
      'two devices of one name',
      slice({ devices: [{ name: 'd' }, { name: 'd' }] }),
      [/devices\[1\]: Duplicate value: "d"/],
    ],
    ['a taint without effect', device({ taints: [{ key: 'a' }] }), [/taints\[0\]\.effect: Required value/]],
    ['counters', slice({ sharedCounters: [{ name: 's', counters: { a: { value: '1' } } }] }), []],
    [
      'counters without a name',
      slice({ sharedCounters: [{ counters: { a: { value: '1' } } }] }),
      [/sharedCounters\[0\]\.name: Required value/],
    ],
    [
      'a policy for a capacity that is not shared',
      device({ capacity: { a: { value: '1', requestPolicy: {} } } }),
      [/requestPolicy: Forbidden: allowMultipleAllocations must be true/],
    ],
    [
      'values of a policy in no order',
      device({
        allowMultipleAllocations: true,
        capacity: { a: { value: '4', requestPolicy: { default: '1', validValues: ['2', '1'] } } },
      }),
      [/validValues\[1\]: Invalid value: "1": values must be sorted/],
    ],
  ])('may or may not list %s', (_what, spec, expected) => {
    const found = problems(RESOURCE_SLICE_KIND, spec);
    expect(found).toHaveLength(expected.length);
    expected.forEach((pattern, index) => expect(found[index]).toMatch(pattern));
  });

  it('stays with its driver, pool and node, and can be selected by them', () => {
    const old = made(RESOURCE_SLICE_KIND, slice());
    const next = made(
      RESOURCE_SLICE_KIND,
      slice({ driver: 'e.x', nodeName: 'm', pool: { ...pool, name: 'q' } }),
    );
    old.metadata.resourceVersion = next.metadata.resourceVersion = '1';
    expect(RESOURCE_SLICE_KIND.validateUpdate(next, old, '').map(({ field }) => field)).toEqual([
      'spec.pool.name',
      'spec.driver',
      'spec.nodeName',
    ]);
    expect(RESOURCE_SLICE_KIND.selectableFields(old)).toMatchObject({
      'spec.driver': 'd.x',
      'spec.nodeName': 'n',
    });
  });
});

describe('a taint of a device', () => {
  const spec = (timeAdded?: string) => ({
    devices: [
      { name: 'gpu-0', taints: [{ key: 'broken', effect: 'NoExecute', ...(timeAdded && { timeAdded }) }] },
    ],
  });
  const nowMs = Date.UTC(2026, 0, 1);
  const earlier = '2025-12-31T00:00:00Z';

  it('has the time at which it was written, unless it says another', () => {
    for (const [given, expected] of [
      [undefined, '2026-01-01T00:00:00Z'],
      [earlier, earlier],
    ]) {
      const slice = made(RESOURCE_SLICE_KIND, spec(given));
      const changed = structuredClone(slice);
      RESOURCE_SLICE_KIND.prepareForCreate(slice, nowMs);
      expect(slice.spec).toEqual(spec(expected));
      RESOURCE_SLICE_KIND.prepareForUpdate(changed, slice, '', nowMs);
      expect(changed.spec).toEqual(spec(expected));
    }
  });
});
