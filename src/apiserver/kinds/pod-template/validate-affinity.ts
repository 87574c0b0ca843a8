import { checkDns1123Label, checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type {
  Affinity,
  NodeAffinity,
  PodAffinity,
  PodAffinityTerm,
} from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateLabelSelector } from '../validation/labels.js';
import { validateNodeSelector, validateNodeSelectorTerm } from '../validation/node-selectors.js';
import { validateSyntax } from '../validation/words.js';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Source: validateAffinity and its neighbours in pkg/apis/core/validation/validation.go. */
export function validateAffinity(affinity: Decoded<Affinity>, path: string, errors: FieldError[]): void {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  if (nodeAffinity) validateNodeAffinity(nodeAffinity, `${path}.nodeAffinity`, errors);
  if (podAffinity) validatePodAffinity(podAffinity, `${path}.podAffinity`, errors);
  if (podAntiAffinity) validatePodAffinity(podAntiAffinity, `${path}.podAntiAffinity`, errors);
}

function validateNodeAffinity(affinity: Decoded<NodeAffinity>, path: string, errors: FieldError[]): void {
  const needed = affinity[REQUIRED];
  if (needed) validateNodeSelector(needed, `${path}.${REQUIRED}`, errors);
  affinity[PREFERRED]?.forEach((term, index) => {
    const at = `${path}.${PREFERRED}[${index}]`;
    validateWeight(term.weight, at, errors);
    validateNodeSelectorTerm(term.preference ?? {}, `${at}.preference`, errors);
  });
}

function validatePodAffinity(affinity: Decoded<PodAffinity>, path: string, errors: FieldError[]): void {
  affinity[REQUIRED]?.forEach((term, index) => validateTerm(term, `${path}.${REQUIRED}[${index}]`, errors));
  affinity[PREFERRED]?.forEach((weighted, index) => {
    const at = `${path}.${PREFERRED}[${index}]`;
    validateWeight(weighted.weight, at, errors);
    validateTerm(weighted.podAffinityTerm ?? {}, `${at}.podAffinityTerm`, errors);
  });
}

function validateWeight(weight: number | undefined, path: string, errors: FieldError[]): void {
  if (!weight || weight < 1 || weight > 100)
    errors.push(invalid(`${path}.weight`, weight ?? 0, 'must be in the range 1-100'));
}

function validateTerm(term: Decoded<PodAffinityTerm>, path: string, errors: FieldError[]): void {
  const { labelSelector, namespaceSelector, namespaces, topologyKey, matchLabelKeys, mismatchLabelKeys } =
    term;
  if (labelSelector) validateLabelSelector(labelSelector, `${path}.labelSelector`, errors);
  if (namespaceSelector) validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`, errors);
  namespaces?.forEach((name) => validateSyntax(name, checkDns1123Label, `${path}.namespace`, errors));
  if (!topologyKey) errors.push(required(`${path}.topologyKey`, 'can not be empty'));
  validateSyntax(topologyKey ?? '', checkQualifiedName, `${path}.topologyKey`, errors);
  for (const [field, keys] of Object.entries({ matchLabelKeys, mismatchLabelKeys }))
    validateLabelKeys(keys, labelSelector !== undefined, `${path}.${field}`, errors);
}

/** Keys of the pod's own labels that its selector is completed with. */
export function validateLabelKeys(
  keys: readonly string[] | undefined,
  hasSelector: boolean,
  path: string,
  errors: FieldError[],
): void {
  keys?.forEach((key, index) => {
    validateSyntax(key, checkQualifiedName, `${path}[${index}]`, errors);
    if (!hasSelector)
      errors.push(invalid(`${path}[${index}]`, key, 'must not be specified when labelSelector is not set'));
  });
}
