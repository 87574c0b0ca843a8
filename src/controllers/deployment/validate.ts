import type { DeepReadonly, Deployment, LabelMatcher } from '../../base/kubernetes/index.js';
import { compileLabelSelector } from '../../base/kubernetes/index.js';
import { errorMessage } from '../../base/errors/index.js';
import { resolveFenceposts } from './limits.js';

export type Validation =
  | { readonly valid: true; readonly selects: LabelMatcher }
  | { readonly valid: false; readonly problem: string };

/**
 * Whether a Deployment can be acted on. The API server refuses what is not; but objects may be older than its
 * rules, or come from one with other rules.
 */
export function validateDeployment(deployment: DeepReadonly<Deployment>): Validation {
  const { spec } = deployment;
  const strategy: string = spec.strategy?.type ?? 'RollingUpdate';
  if (strategy !== 'RollingUpdate' && strategy !== 'Recreate') {
    return { valid: false, problem: `unexpected deployment strategy type: ${strategy}` };
  }
  if ((spec.replicas ?? 1) < 0) {
    return { valid: false, problem: `spec.replicas: ${spec.replicas} is less than 0` };
  }
  try {
    if (strategy === 'RollingUpdate') resolveFenceposts(spec);
    return { valid: true, selects: compileLabelSelector(spec.selector) };
  } catch (error) {
    return { valid: false, problem: errorMessage(error) };
  }
}
