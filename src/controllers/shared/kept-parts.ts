import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { ConfigMap, Secret, dropManagedFields, partOf } from '@rollkeeper/runtime';

/**
 * The parts that the caches of the small controllers keep of kinds whose objects may be large: one cache of each kind
 * for all of them.
 */

export const SERVICE_ACCOUNT_TOKEN = 'kubernetes.io/service-account-token';
export const BOOTSTRAP_TOKEN = 'bootstrap.kubernetes.io/token';
export const ROOT_CA = 'kube-root-ca.crt';
/** The ConfigMap that clients read without credentials before they join a cluster. */
export const CLUSTER_INFO = { namespace: 'kube-public', name: 'cluster-info' };

const TOKEN_TYPES: ReadonlySet<string | undefined> = new Set([SERVICE_ACCOUNT_TOKEN, BOOTSTRAP_TOKEN]);

/** Keeps Secrets of tokens whole, and only the identity of others. */
export const TokenSecret = partOf(Secret, 'tokens', (secret): Secret =>
  TOKEN_TYPES.has(secret.type) ? dropManagedFields(secret) : identityOf(secret),
);

/** Keeps the ConfigMaps that controllers write whole, and only the identity of others. */
export const OwnConfigMap = partOf(ConfigMap, 'root authorities and cluster-info', (configMap): ConfigMap => {
  const { name, namespace } = configMap.metadata;
  const isInfo = name === CLUSTER_INFO.name && namespace === CLUSTER_INFO.namespace;
  return name === ROOT_CA || isInfo ? dropManagedFields(configMap) : identityOf(configMap);
});

function identityOf({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject {
  const { name, namespace, resourceVersion, uid } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, resourceVersion, uid } };
}
