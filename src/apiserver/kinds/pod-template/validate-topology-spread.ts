import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { TopologySpreadConstraint } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateLabelSelector } from '../validation/labels.js';
import { validateWords } from '../validation/words.js';
import type { WordRule } from '../validation/words.js';
import { validateLabelKeys, validateRepeatedKeys } from './validate-affinity.js';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const WORDS: readonly WordRule[] = [
  { field: 'nodeAffinityPolicy', words: ['Honor', 'Ignore'] },
  { field: 'nodeTaintsPolicy', words: ['Honor', 'Ignore'] },
];

/** Source: validateTopologySpreadConstraints in pkg/apis/core/validation/validation.go. */
export function validateTopologySpread(
  constraints: readonly Decoded<TopologySpreadConstraint>[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  const pairs = constraints?.map(pairOf) ?? [];
  const lastPlaces = new Map(pairs.map((pair, index) => [pair, index]));
  constraints?.forEach((constraint, index) => {
    const at = `${path}[${index}]`;
    const { maxSkew = 0, topologyKey, whenUnsatisfiable } = constraint;
    if (!(maxSkew > 0)) errors.push(invalid(`${at}.maxSkew`, maxSkew, 'must be greater than zero'));
    if (!topologyKey) errors.push(required(`${at}.topologyKey`, 'can not be empty'));
    if (!ACTIONS.includes(whenUnsatisfiable ?? ''))
      errors.push(notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable ?? '', ACTIONS));
    validateWords(constraint, WORDS, at, errors);
    if (constraint.labelSelector)
      validateLabelSelector(constraint.labelSelector, `${at}.labelSelector`, errors);
    const { labelSelector, matchLabelKeys } = constraint;
    validateLabelKeys(matchLabelKeys, labelSelector, `${at}.matchLabelKeys`, errors);
    validateRepeatedKeys(matchLabelKeys, labelSelector, `${at}.matchLabelKeys`, errors);
    const { minDomains } = constraint;
    if (minDomains !== undefined && minDomains <= 0)
      errors.push(invalid(`${at}.minDomains`, minDomains, 'must be greater than zero'));
    if (minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule')
      errors.push(
        invalid(
          `${at}.minDomains`,
          minDomains,
          'can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ' + (whenUnsatisfiable ?? ''),
        ),
      );
    const pair = pairs[index]!;
    if (lastPlaces.get(pair)! > index) errors.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, pair));
  });
}

function pairOf({ topologyKey = '', whenUnsatisfiable }: Decoded<TopologySpreadConstraint>): string {
  return `{${topologyKey}, ${whenUnsatisfiable ?? ''}}`;
}
