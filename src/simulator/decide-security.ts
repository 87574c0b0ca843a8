import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';

/**
 * Why a container may not run as the user that it asks for. What user an image has is not known here. Source:
 * verifyRunAsNonRoot in k/k pkg/kubelet/kuberuntime/security_context.go.
 */
export function nonRootProblem(
  { metadata, spec }: DeepReadonly<Pod>,
  { name, securityContext = {} }: DeepReadonly<coreV1.Container>,
): string | undefined {
  const { runAsNonRoot = spec.securityContext?.runAsNonRoot } = securityContext;
  const { runAsUser = spec.securityContext?.runAsUser } = securityContext;
  if (runAsNonRoot !== true || runAsUser === undefined || Number(runAsUser) !== 0) return undefined;
  const pod = `${metadata.name}_${metadata.namespace}(${metadata.uid ?? ''})`;
  return `container's runAsUser breaks non-root policy (pod: "${pod}", container: ${name})`;
}
