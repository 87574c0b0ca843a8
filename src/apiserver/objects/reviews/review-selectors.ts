import { parseLabelSelector, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../../kinds/index.js';
import { invalidField, requiredField, validateLabelOperands, validateOperands } from '../../kinds/index.js';
import { isFieldSelector } from '../../kinds/selectors/index.js';

type Requirement = NonNullable<Decoded<LabelSelector>['matchExpressions']>[number];

/** The selector of the list or watch that a question is about: as a text, or as requirements. */
interface ReviewSelector {
  readonly rawSelector?: string;
  readonly requirements?: readonly Requirement[];
}

export interface ReviewSelectors {
  readonly fieldSelector?: ReviewSelector;
  readonly labelSelector?: ReviewSelector;
}

const PATH = 'spec.resourceAttributes';

/** Source: validateResourceAttributes in pkg/apis/authorization/validation. */
export function selectorErrors({ fieldSelector, labelSelector }: ReviewSelectors): FieldError[] {
  const errors: FieldError[] = [];
  validateSelector(fieldSelector, `${PATH}.fieldSelector`, errors, (requirement, path) => {
    if (!requirement.key) errors.push(requiredField(`${path}.key`, 'must be specified'));
    validateOperands(requirement, path, errors);
  });
  validateSelector(labelSelector, `${PATH}.labelSelector`, errors, (requirement, path) => {
    validateOperands(requirement, path, errors);
    validateLabelOperands(requirement, path, errors);
  });
  return errors;
}

function validateSelector(
  selector: ReviewSelector | undefined,
  path: string,
  errors: FieldError[],
  validate: (requirement: Requirement, path: string) => void,
): void {
  if (!selector) return;
  const { rawSelector = '', requirements = [] } = selector;
  if (rawSelector !== '' && requirements.length > 0)
    errors.push(
      invalidField(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'),
    );
  if (rawSelector === '' && requirements.length === 0)
    errors.push(
      requiredField(
        `${path}.requirements`,
        `when ${path} is specified, requirements or rawSelector is required`,
      ),
    );
  requirements.forEach((requirement, index) => validate(requirement, `${path}.requirements[${index}]`));
}

/**
 * The words of an answer for selectors that cannot be read, which make the question a wider one. Source:
 * BuildEvaluationError.
 */
export function selectorProblems({ fieldSelector, labelSelector }: ReviewSelectors): string[] {
  return [
    ...problemOf(fieldSelector, 'fieldSelector', isFieldSelector, isFieldRequirement),
    ...problemOf(labelSelector, 'labelSelector', isLabelSelector, isLabelRequirement),
  ];
}

function problemOf(
  { rawSelector = '', requirements = [] }: ReviewSelector = {},
  name: string,
  canParse: (text: string) => boolean,
  canUse: (requirement: Requirement) => boolean,
): string[] {
  const usable = requirements.filter(canUse).length;
  if (usable === requirements.length && (rawSelector === '' || canParse(rawSelector))) return [];
  return [`${PATH}.${name} ${usable > 0 ? 'partially ' : ''}ignored due to parse error`];
}

function isLabelSelector(text: string): boolean {
  try {
    parseLabelSelector(text);
    return true;
  } catch {
    return false;
  }
}

function isLabelRequirement(requirement: Requirement): boolean {
  return tryCompileLabelSelector({ matchExpressions: [requirement] }) !== undefined;
}

/** A field has one value, or has not. */
function isFieldRequirement({ operator, values = [] }: Requirement): boolean {
  return (operator === 'In' || operator === 'NotIn') && values.length === 1;
}
