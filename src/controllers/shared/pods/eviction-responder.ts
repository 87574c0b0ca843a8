import type { DeepReadonly, Pod, ReplicaSet, WithEvictionResponders } from '@rollkeeper/machinery/kubernetes';
import { DEPLOYMENT_RESPONDER } from '@rollkeeper/machinery/kubernetes';

/**
 * On a ReplicaSet, kept up to date by the Deployment controller: new pods name the responder of Deployments, which hears of
 * evictions that are requested. It is no part of the template, so that it starts no pod.
 */
export const RESPONDER_OF_OWNER = 'rollkeeper.dev/eviction-responder-of-owner';

/** The value of {@link RESPONDER_OF_OWNER}. */
export const RESPONDS = 'surge';

/** A new pod with the responder of its Deployment, unless its template names one of that name. */
export function withResponder(pod: Pod, { metadata }: Pick<DeepReadonly<ReplicaSet>, 'metadata'>): Pod {
  if (metadata.annotations?.[RESPONDER_OF_OWNER] !== RESPONDS) return pod;
  const { evictionResponders: own = [] }: typeof pod.spec & WithEvictionResponders = pod.spec;
  if (own.some(({ name }) => name === DEPLOYMENT_RESPONDER.name)) return pod;
  const spec: Pod['spec'] & WithEvictionResponders = {
    ...pod.spec,
    evictionResponders: [...own, { ...DEPLOYMENT_RESPONDER }],
  };
  return { ...pod, spec };
}
