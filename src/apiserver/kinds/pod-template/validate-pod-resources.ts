import type { Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { containerAmounts, isPodLevelResource, nanosOf, ownField } from '@rollkeeper/machinery/kubernetes';
import type { ResourceRequirements } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported } from '../validation/field-errors.js';
import { validateQualifiedResourceName } from '../validation/resource-names.js';
import { validateResources } from './validate-resources.js';

const SUPPORTED = ['cpu', 'hugepages-', 'memory'];

/**
 * Validates the resources of a pod as a whole against those of its containers. Source: validatePodResources in
 * pkg/apis/core/validation/validation.go.
 */
export function validatePodResources(spec: Decoded<PodSpec>, path: string, errors: FieldError[]): void {
  const { resources } = spec;
  if (!resources) return;
  const { claims, ...amounts } = resources;
  if (claims !== undefined && claims.length > 0)
    errors.push(forbidden(`${path}.claims`, 'claims may not be set for Resources at pod-level'));
  validateResources(amounts, path, errors, { validateName: validatePodResourceName });
  validateConsistency(spec, amounts, path, errors);
}

/** Source: validatePodResourceName. */
function validatePodResourceName(name: string, field: string, errors: FieldError[]): void {
  const { length } = errors;
  validateQualifiedResourceName(name, field, errors);
  if (errors.length === length && !isPodLevelResource(name))
    errors.push(notSupported(field, name, SUPPORTED));
}

function validateConsistency(
  spec: Decoded<PodSpec>,
  { limits = {}, requests = {} }: Decoded<ResourceRequirements>,
  path: string,
  errors: FieldError[],
): void {
  atLeastAggregate(requests, containerAmounts(spec, 'requests'), 'requests', path, errors);
  const huge = Object.entries(containerAmounts(spec, 'limits')).filter(([name]) => isHuge(name));
  atLeastAggregate(limits, Object.fromEntries(huge), 'limits', path, errors);
  spec.containers?.forEach(({ resources }, index) => {
    for (const [name, limit] of byName(resources?.limits)) {
      const most = ownField(limits, name);
      if (most === undefined || nanosOf(limit) <= nanosOf(most)) continue;
      errors.push(
        invalid(
          `${path}.containers[${index}][${name}].limits`,
          String(limit),
          `must be less than or equal to pod limits of ${most}`,
        ),
      );
    }
  });
}

type NamedAmounts = Readonly<Record<string, string | number>>;

function atLeastAggregate(
  of: NamedAmounts,
  aggregates: NamedAmounts,
  part: 'requests' | 'limits',
  path: string,
  errors: FieldError[],
): void {
  for (const [name, aggregate] of byName(aggregates)) {
    const own = ownField(of, name);
    if (own === undefined || nanosOf(aggregate) <= nanosOf(own)) continue;
    const words = `must be greater than or equal to aggregate container ${part} of ${aggregate}`;
    errors.push(invalid(`${path}.${part}[${name}]`, String(own), words));
  }
}

function byName(amounts: NamedAmounts | undefined): [string, string | number][] {
  return Object.entries(amounts ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function isHuge(name: string): boolean {
  return name.startsWith('hugepages-');
}
