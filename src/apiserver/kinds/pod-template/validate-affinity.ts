import { checkDns1123Label, checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type {
  Affinity,
  NodeAffinity,
  PodAffinity,
  PodAffinityTerm,
} from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, required } from '../validation/field-errors.js';
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
    validateLabelKeys(keys, labelSelector, `${path}.${field}`, errors);
  validateRepeatedKeys(matchLabelKeys, labelSelector, path, errors);
  const mismatched = new Set(mismatchLabelKeys);
  matchLabelKeys?.forEach((key, index) => {
    if (mismatched.has(key))
      errors.push(
        invalid(
          `${path}.matchLabelKeys[${index}]`,
          key,
          'exists in both matchLabelKeys and mismatchLabelKeys',
        ),
      );
  });
}

type Selector = Decoded<PodAffinityTerm>['labelSelector'];

/** Keys of the pod's own labels that its selector is completed with. */
export function validateLabelKeys(
  keys: readonly string[] | undefined,
  selector: Selector,
  path: string,
  errors: FieldError[],
): void {
  if (!keys?.length) return;
  if (!selector) {
    errors.push(forbidden(path, 'must not be specified when labelSelector is not set'));
    return;
  }
  keys.forEach((key, index) => validateSyntax(key, checkQualifiedName, `${path}[${index}]`, errors));
}

/** The selector has been completed with the keys, so a key in it twice was there before. */
export function validateRepeatedKeys(
  keys: readonly string[] | undefined,
  selector: Selector,
  path: string,
  errors: FieldError[],
): void {
  const indexes = new Map(keys?.map((key, index) => [key, index]));
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}));
  for (const { key = '' } of selector?.matchExpressions ?? []) {
    const index = indexes.get(key);
    if (index !== undefined && seen.has(key))
      errors.push(invalid(`${path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector'));
    seen.add(key);
  }
}
