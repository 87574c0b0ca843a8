import { describe, expect, it } from 'vitest';
import type { Fields } from './device-objects.fixture.js';
import { claiming, exactly, made, problems } from './device-objects.fixture.js';
import { RESOURCE_CLAIM_KIND } from './resource-claim.kinds.js';
import { RESOURCE_SLICE_KIND } from './resource-slice.kind.js';

describe('the rules of devices that nothing recorded', () => {
  const slice = (device: Fields): string[] =>
    problems(RESOURCE_SLICE_KIND, {
      driver: 'd.x',
      pool: { name: 'p', resourceSliceCount: 1 },
      allNodes: true,
      devices: [{ name: 'a', ...device }],
    });
  const shared = (requestPolicy: Fields): string[] =>
    slice({
      allowMultipleAllocations: true,
      capacity: { memory: { value: '8Gi', requestPolicy } },
    }).map((problem) => problem.replace('spec.devices[0].capacity[memory].requestPolicy', ''));

  it('a request policy offers what there is, in order and once, the default among it', () => {
    expect(shared({ default: '1Gi', validValues: ['1Gi', '8Gi'] })).toEqual([]);
    expect(shared({ default: '3Gi', validValues: ['2Gi', '1Gi', '1024Mi', '9Gi'] })).toEqual([
      '.validValues[1]: Invalid value: "1Gi": values must be sorted in ascending order',
      '.validValues[3]: Invalid value: "9Gi": option is larger than capacity value: 8Gi',
      '.validValues[2]: Duplicate value: "1073741824"',
      '.validValues: Invalid value: "3Gi": default value is not valid according to the requestPolicy',
    ]);
    expect(shared({ validValues: ['1Gi'] })).toEqual([
      '.default: Required value: required when validValues is defined',
    ]);
  });

  it('a range of requests has a start, ends within the capacity, and has whole steps', () => {
    expect(shared({ default: '2Gi', validRange: { min: '1Gi', max: '8Gi', step: '1Gi' } })).toEqual([]);
    expect(shared({ default: '2Gi', validRange: {} })).toEqual([
      '.validRange.min: Required value: required when validRange is defined',
    ]);
    expect(shared({ default: '10Gi', validRange: { min: '9Gi', max: '8500Mi', step: '3Gi' } })).toEqual([
      '.validRange.min: Invalid value: "9Gi": min is larger than capacity value: 8Gi',
      '.validRange.max: Invalid value: "9Gi": min is larger than max: 8500Mi',
      '.validRange.max: Invalid value: "8500Mi": max is larger than capacity value: 8Gi',
      '.validRange.max: Invalid value: "10Gi": default is more than max: 8500Mi',
      expect.stringMatching(/^\.validRange\.step: Invalid value: "3Gi": one step .* is larger than capacity/),
      '.validRange.step: Invalid value: "10Gi": value is not a multiple of a given step (3Gi) from (9Gi)',
      '.validRange.step: Invalid value: "8500Mi": value is not a multiple of a given step (3Gi) from (9Gi)',
    ]);
  });

  it('conditions of a binding come in pairs of lists that have nothing in common', () => {
    expect(slice({ bindingConditions: ['a/b', 'c', 'c'], bindingFailureConditions: ['c', '-'] })).toEqual([
      expect.stringContaining('bindingFailureConditions[1]: Invalid value: "-": name part must consist'),
      'spec.devices[0].bindingConditions[2]: Duplicate value: "c"',
      'spec.devices[0].bindingFailureConditions[0]: Invalid value: "c": bindingFailureConditions must not overlap with bindingConditions',
    ]);
    expect(slice({ bindingConditions: ['a'] })).toEqual([
      'spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions',
    ]);
    expect(slice({ bindingFailureConditions: ['a', 'b', 'c', 'd', 'e'] })).toEqual([
      'spec.devices[0].bindingFailureConditions: Too many: 5: must have at most 4 items',
      expect.stringContaining('bindingConditions are required'),
    ]);
  });

  it('nothing is said of the items of a list that is too long', () => {
    const requests = Array.from({ length: 33 }, () => exactly({ deviceClassName: '' }));
    expect(problems(RESOURCE_CLAIM_KIND, claiming(...requests))).toEqual([
      'spec.devices.requests: Too many: 33: must have at most 32 items',
    ]);
    const tolerations = [{ operator: 'Equal', value: 'a b' }];
    expect(problems(RESOURCE_CLAIM_KIND, claiming(exactly({ tolerations })))).toEqual([
      expect.stringContaining('tolerations[0].value: Invalid value: "a b": a valid label must be'),
    ]);
  });

  it('the status of a device has whole conditions, and its addresses have their usual form', () => {
    const id = { driver: 'd.x', pool: 'p', device: 'a' };
    const allocation = { devices: { results: [{ ...id, request: 'r', shareID: 'A' }] } };
    const conditions = [{ type: 'Ready', status: 'Maybe' }];
    const networkData = { interfaceName: 'i'.repeat(257), ips: ['10.0.0.1/8', '2001:DB8::1/64', 'x'] };
    const devices = [{ ...id, shareID: 'A', conditions, networkData }];
    const claim = made(RESOURCE_CLAIM_KIND, claiming(exactly()));
    const next = made(RESOURCE_CLAIM_KIND, claiming(exactly()), { allocation, devices });
    const found = RESOURCE_CLAIM_KIND.validateUpdate(next, claim, 'status');
    expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'status.devices[0].shareID: Invalid value: "A": error validating uid: invalid UUID length: 1',
      'status.devices[0].conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
      'status.devices[0].conditions[0].lastTransitionTime: Required value: must be set',
      'status.devices[0].conditions[0].reason: Required value: must be set',
      'status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes',
      'status.devices[0].networkData.ips[1]: Invalid value: "2001:DB8::1/64": must be in canonical form ("2001:db8::1/64")',
      'status.devices[0].networkData.ips[2]: Invalid value: "x": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
      'status.allocation.devices.results[0].shareID: Invalid value: "A": error validating uid: invalid UUID length: 1',
    ]);
  });
});
