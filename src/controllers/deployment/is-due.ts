import type { DeepReadonly, Deployment } from '../../base/kubernetes/index.js';

/** Every sync, whatever it comes to, notes the generation that it saw. */
export function isDeploymentDue({ metadata, status }: DeepReadonly<Deployment>): boolean {
  return (
    metadata.deletionTimestamp === undefined && (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)
  );
}
