import { describe, expect, it } from 'vitest';
import type { Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { collectErrors } from '../validation/field-errors.js';
import { validatePodResources } from './validate-pod-resources.js';

type Resources = NonNullable<Decoded<PodSpec>['resources']>;

/** Returns field and message of each error of a pod with containers of these resources. */
function errorsOf(resources: Resources, ...containers: readonly Resources[]): string[] {
  const spec = {
    containers: containers.map((of, index) => ({ name: `c${index}`, resources: of })),
    resources,
  };
  return collectErrors((errors) =>
    validatePodResources(spec as Decoded<PodSpec>, 'spec.resources', errors),
  ).map(({ field, message }) => `${field}: ${message}`);
}

describe('the resources that a pod says of itself', () => {
  it('are refused where they are negative, in the words and the order of a genuine server', () => {
    const container = { limits: { cpu: '2' }, requests: { cpu: '1' } };
    expect(errorsOf({ limits: { cpu: '-1', memory: '1Gi' }, requests: { cpu: '2' } }, container)).toEqual([
      'spec.resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of -1',
      'spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of -1',
    ]);
  });

  it('cover what the containers ask for together', () => {
    const container = { requests: { cpu: '1500m', memory: '1Gi' } };
    expect(errorsOf({ requests: { cpu: '2', memory: '4Gi' } }, container, container)).toEqual([
      'spec.resources.requests[cpu]: Invalid value: "2": must be greater than or equal to aggregate container requests of 3',
    ]);
    expect(errorsOf({ requests: { cpu: '3', memory: '2Gi' } }, container, container)).toEqual([]);
  });

  it('are of cpu, memory and huge pages alone, and claim no devices', () => {
    expect(errorsOf({ limits: { 'example.com/gpu': '1' }, claims: [{ name: 'gpu' }] })).toEqual([
      'spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level',
      'spec.resources.limits[example.com/gpu]: Unsupported value: "example.com/gpu": supported values: "cpu", "hugepages-", "memory"',
    ]);
  });

  it('have whole huge pages', () => {
    expect(
      errorsOf({ limits: { cpu: '1', 'hugepages-2Mi': '5' }, requests: { 'hugepages-2Mi': '5' } }),
    ).toEqual([
      'spec.resources.limits[hugepages-2Mi]: Invalid value: "5": 5 is not positive integer multiple of hugepages-2Mi',
      'spec.resources.requests[hugepages-2Mi]: Invalid value: "5": 5 is not positive integer multiple of hugepages-2Mi',
    ]);
    expect(
      errorsOf({ limits: { cpu: '1', 'hugepages-2Mi': '4Mi' }, requests: { 'hugepages-2Mi': '4Mi' } }),
    ).toEqual([]);
  });
});
