import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../kubernetes/annotations.js';
import { isRollingUpdate } from '../kubernetes/limits.js';
import { maxSurgeOf, servicesNamedBy, servicesOf } from './blue-green/selecting-services.js';
import { maySteer, trafficServicesOf } from './common/steered-services.js';
import { compilePolicy } from './compile-policy.js';

/** The Services that the policy of a Deployment names, even if the rest of the policy cannot be understood. */
export function servicesUsedBy(
  { metadata, spec }: DeepReadonly<Deployment>,
  defaults: Annotations | undefined,
): readonly string[] {
  const shape = { isRollingUpdate: isRollingUpdate(spec), maxSurge: maxSurgeOf(spec) };
  const compiled = compilePolicy(metadata.annotations, defaults, shape);
  if (compiled.kind === 'none') return [];
  const { blueGreen, traffic } = compiled.policy;
  const { canary, stable } = trafficServicesOf(traffic ?? {}, metadata.name);
  if (compiled.kind === 'policy') return [...servicesOf(blueGreen), ...(traffic ? [stable, canary] : [])];
  const made = maySteer(metadata.annotations, defaults) ? [stable, canary] : [];
  return [...servicesNamedBy(metadata.annotations, defaults), ...made];
}
