import type { Node } from '../../../../kubernetes/index.js';
import type { FieldError } from '../../kind-definition.js';
import { duplicate, notSupported } from '../../validation/field-errors.js';
import { checkLabelValue, checkQualifiedName } from '../../validation/syntax.js';
import { validateSyntax } from '../../validation/words.js';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Source: validateNodeTaints in pkg/apis/core/validation/validation.go. */
export function validateNode({ spec }: Node, errors: FieldError[]): void {
  const seen = new Set<string>();
  spec?.taints?.forEach((taint, index) => {
    const path = `spec.taints[${index}]`;
    validateSyntax(taint.key ?? '', checkQualifiedName, `${path}.key`, errors);
    validateSyntax(taint.value ?? '', checkLabelValue, `${path}.value`, errors);
    if (!EFFECTS.includes(taint.effect))
      errors.push(notSupported(`${path}.effect`, taint.effect ?? '', EFFECTS));
    const identity = `${taint.key}:${taint.effect}`;
    if (seen.has(identity)) errors.push(duplicate(path, taint));
    seen.add(identity);
  });
}
