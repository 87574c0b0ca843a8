import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, CachedKind, Kind, WatchedKind } from '@rollkeeper/runtime';
import {
  ConfigMap,
  Namespace,
  ServiceAccount,
  dropManagedFields,
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
  partOf,
  typeMeta,
  watch,
} from '@rollkeeper/runtime';
import { clusterController } from '../shared/index.js';

/** What every namespace has from its first moment, and has again when somebody deletes it. */

const ACCOUNT = 'default';
const ROOT_CA = 'kube-root-ca.crt';
/** All of our own ConfigMaps; who it is of any other, for others' content is not ours to keep, and may be a megabyte. */
const RootCa = partOf(ConfigMap, 'root authorities', (configMap): ConfigMap => {
  if (configMap.metadata.name === ROOT_CA) return dropManagedFields(configMap);
  const { apiVersion, kind, metadata } = configMap;
  const { name, namespace, resourceVersion, uid } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, resourceVersion, uid } };
});

/**
 * The ServiceAccount that pods run as where they name none.
 * Source: `ServiceAccountsController` in k/k pkg/controller/serviceaccount.
 */
export const serviceAccountController = clusterController<Namespace>({
  name: 'serviceaccount',
  for: Namespace,
  predicates: [(event) => event.type === 'added'],
  watches: [watchNamed(ServiceAccount, ACCOUNT)],
  async reconcile({ name: namespace }, { client, lister, object }) {
    if (!object || object.metadata.deletionTimestamp !== undefined) return;
    if (lister(ServiceAccount).get(`${namespace}/${ACCOUNT}`)) return;
    const metadata = { namespace, name: ACCOUNT };
    await createInNamespace(client, ServiceAccount, { ...typeMeta(ServiceAccount), metadata });
  },
});

/**
 * The ConfigMap by which pods know the API server. Nothing to do where the server has no authority of its own.
 * Source: `Publisher` in k/k pkg/controller/certificates/rootcacertpublisher.
 */
export const rootCaPublisherController = clusterController<Namespace>(
  { name: 'root-ca-certificate-publisher', for: Namespace, aliases: ['root-ca-cert-publisher'] },
  ({ rootCa }) => ({
    predicates: [(event) => event.type === 'added'],
    watches: [watchNamed(RootCa, ROOT_CA)],
    async reconcile({ name: namespace }, { client, lister, object }) {
      if (rootCa === undefined || !object || object.metadata.deletionTimestamp !== undefined) return;
      const data = { 'ca.crt': rootCa };
      const known = lister(RootCa).get(`${namespace}/${ROOT_CA}`);
      if (!known) {
        const metadata = { namespace, name: ROOT_CA, annotations: { [DESCRIPTION]: USE } };
        await createInNamespace(client, ConfigMap, { ...typeMeta(ConfigMap), metadata, data });
      } else if (!sameJson(known.data, data)) {
        await client.update(ConfigMap, { ...cloneJson(known as ConfigMap), data });
      }
    },
  }),
);

const DESCRIPTION = 'kubernetes.io/description';
const USE =
  'The authority behind the certificate of the API server, for clients inside the cluster. Of nothing else is it promised.';

/** Changes of the object of that name in a namespace wake the namespace; that it appears is what we have done. */
function watchNamed(kind: CachedKind, name: string): WatchedKind {
  return watch(
    kind,
    ({ metadata }) => (metadata.name === name ? [{ name: metadata.namespace ?? '' }] : []),
    (event) => event.type !== 'added',
  );
}

/** Somebody may have been faster, or the namespace may be on its way out: either is well. */
async function createInNamespace<T extends KubernetesObject>(
  client: ApiClient,
  kind: Kind<T>,
  object: T,
): Promise<void> {
  try {
    await client.create(kind, object);
  } catch (error) {
    if (!isAlreadyExists(error) && !isNamespaceTerminating(error) && !isNotFound(error)) throw error;
  }
}
