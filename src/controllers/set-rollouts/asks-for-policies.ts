import { asksForRequest, compilePolicy } from '../deployment/index.js';

/** Whether the set itself asks: the annotations of its Namespace are defaults for one that does. */
export function asksForSetPolicies(annotations: Readonly<Record<string, string>> | undefined): boolean {
  return compilePolicy(annotations, undefined).kind !== 'none' || asksForRequest(annotations ?? {});
}
