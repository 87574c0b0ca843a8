import { checkDns1123Subdomain, checkLabelValue, checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type {
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
} from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, required } from './field-errors.js';
import { internalForm } from './internal-form.js';
import { validateSyntax } from './words.js';

/** Source: ValidateNodeSelector in pkg/apis/core/validation/validation.go. */
export function validateNodeSelector(
  selector: Decoded<NodeSelector>,
  path: string,
  errors: FieldError[],
): void {
  const terms = selector.nodeSelectorTerms ?? [];
  if (terms.length === 0)
    errors.push(required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term'));
  terms.forEach((term, index) =>
    validateNodeSelectorTerm(term, `${path}.nodeSelectorTerms[${index}]`, errors, { areValuesChecked: true }),
  );
}

/** Values that no label has are only refused where a pod depends on them. */
export function validateNodeSelectorTerm(
  { matchExpressions, matchFields }: Decoded<NodeSelectorTerm>,
  path: string,
  errors: FieldError[],
  { areValuesChecked }: { readonly areValuesChecked: boolean } = { areValuesChecked: false },
): void {
  matchExpressions?.forEach((requirement, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    validateExpression(requirement, at, errors);
    if (areValuesChecked)
      requirement.values?.forEach((value, position) =>
        validateSyntax(value, checkLabelValue, `${at}.values[${position}]`, errors),
      );
  });
  matchFields?.forEach((requirement, index) =>
    validateField(requirement, `${path}.matchFields[${index}]`, errors),
  );
}

function validateExpression(
  { key, operator, values = [] }: Decoded<NodeSelectorRequirement>,
  path: string,
  errors: FieldError[],
): void {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0)
        errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0)
        errors.push(
          forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1)
        errors.push(
          required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"),
        );
      break;
    default:
      errors.push(invalid(`${path}.operator`, operator ?? '', 'not a valid selector operator'));
  }
  validateSyntax(key ?? '', checkQualifiedName, `${path}.key`, errors);
}

/** Fields of the node itself: its name is the only one. */
function validateField(
  { key, operator, values = [] }: Decoded<NodeSelectorRequirement>,
  path: string,
  errors: FieldError[],
): void {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length !== 1)
      errors.push(
        required(
          `${path}.values`,
          "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ),
      );
  } else errors.push(invalid(`${path}.operator`, operator ?? '', 'not a valid selector operator'));
  if (key !== 'metadata.name') {
    errors.push(invalid(`${path}.key`, key ?? '', 'not a valid field selector key'));
    return;
  }
  values.forEach((value, index) =>
    validateSyntax(value, checkDns1123Subdomain, `${path}.values[${index}]`, errors),
  );
}

/** A selector with its fields as they are called inside a genuine server, which messages show. */
export function internalNodeSelector(selector: Decoded<NodeSelector>): object {
  return internalForm('core.NodeSelector', selector);
}

export function internalNodeSelectorTerm(term: Decoded<NodeSelectorTerm>): object {
  return internalForm('core.NodeSelectorTerm', term);
}
