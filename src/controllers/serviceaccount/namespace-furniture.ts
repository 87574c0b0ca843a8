import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { writableCopy, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, CachedKind, Kind, WatchedKind } from '@rollkeeper/runtime';
import {
  ConfigMap,
  Namespace,
  ServiceAccount,
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
  typeMeta,
  watch,
} from '@rollkeeper/runtime';
import { OwnConfigMap, ROOT_CA, clusterController } from '../shared/index.js';

/** Objects that every namespace has from the start, recreated if deleted. */

const ACCOUNT = 'default';

/** The default ServiceAccount of pods. Source: `ServiceAccountsController` in k/k pkg/controller/serviceaccount. */
export const serviceAccountController = clusterController<Namespace>({
  name: 'serviceaccount',
  serviceAccount: 'service-account-controller',
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
 * The ConfigMap with the API server's CA for pods. Does nothing if the server has no CA of its own. Source: `Publisher`
 * in k/k pkg/controller/certificates/rootcacertpublisher.
 */
export const rootCaPublisherController = clusterController<Namespace>(
  {
    name: 'root-ca-certificate-publisher',
    serviceAccount: 'root-ca-cert-publisher',
    for: Namespace,
    aliases: ['root-ca-cert-publisher'],
  },
  ({ rootCa }) => ({
    predicates: [(event) => event.type === 'added'],
    watches: [watchNamed(OwnConfigMap, ROOT_CA)],
    async reconcile({ name: namespace }, { client, lister, object }) {
      if (rootCa === undefined || !object || object.metadata.deletionTimestamp !== undefined) return;
      const data = { 'ca.crt': rootCa };
      const known = lister(OwnConfigMap).get(`${namespace}/${ROOT_CA}`);
      if (!known) {
        const metadata = { namespace, name: ROOT_CA, annotations: { [DESCRIPTION]: USE } };
        await createInNamespace(client, ConfigMap, { ...typeMeta(ConfigMap), metadata, data });
      } else if (!sameJson(known.data, data)) {
        await client.update(ConfigMap, { ...writableCopy<ConfigMap>(known), data });
      }
    },
  }),
);

const DESCRIPTION = 'kubernetes.io/description';
const USE =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Changes of the object of that name in a namespace wake the namespace; its creation is our own doing. */
function watchNamed(kind: CachedKind, name: string): WatchedKind {
  return watch(
    kind,
    ({ metadata }) => (metadata.name === name ? [{ name: metadata.namespace ?? '' }] : []),
    (event) => event.type !== 'added',
  );
}

/** Another client may have been faster, or the namespace may be terminating: both are fine. */
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
