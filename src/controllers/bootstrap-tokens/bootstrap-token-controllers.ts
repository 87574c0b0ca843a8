import type { ConfigMap } from '@rollkeeper/runtime';
import { ConfigMap as CONFIG_MAP, NAMESPACE_INDEX, Secret, keyOf, watch } from '@rollkeeper/runtime';
import { CLUSTER_INFO, OwnConfigMap, TokenSecret, clusterController, unlessGone } from '../shared/index.js';
import { TOKEN_NAMESPACE, decideSignatures, expiryOf, isBootstrapToken } from './bootstrap-token.js';

/** Deletes bootstrap tokens that have expired. Source: k/k pkg/controller/bootstrap/tokencleaner.go. */
export const tokenCleanerController = clusterController<Secret>({
  name: 'token-cleaner',
  serviceAccount: 'token-cleaner',
  aliases: ['tokencleaner'],
  for: TokenSecret,
  predicates: [({ object, type }) => type !== 'deleted' && isBootstrapToken(object)],
  async reconcile({ name, namespace }, { client, clock, object: secret }) {
    if (!secret || !isBootstrapToken(secret)) return {};
    const leftMs = expiryOf(secret) - clock.now();
    if (leftMs === Infinity) return {};
    if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, LONGEST_MS) };
    // The deletion names the version, because the expiration may have been extended since.
    const { resourceVersion, uid } = secret.metadata;
    await unlessGone(client.delete(Secret, { namespace, name }, { preconditions: { uid, resourceVersion } }));
    return {};
  },
});

/** No timer lasts longer. */
const LONGEST_MS = 86_400_000;

/**
 * Signs the kubeconfig in the ConfigMap `kube-public/cluster-info` with bootstrap tokens, so that a node that joins can trust it. Source:
 * k/k pkg/controller/bootstrap/bootstrapsigner.go.
 */
export const bootstrapSignerController = clusterController<ConfigMap>({
  name: 'bootstrap-signer',
  serviceAccount: 'bootstrap-signer',
  aliases: ['bootstrapsigner'],
  for: OwnConfigMap,
  predicates: [({ object, type }) => type !== 'deleted' && keyOf(object.metadata) === keyOf(CLUSTER_INFO)],
  watches: [
    watch(
      TokenSecret,
      () => [CLUSTER_INFO],
      ({ object }) => isBootstrapToken(object),
    ),
  ],
  async reconcile(_request, { client, clock, lister, object: info }) {
    if (!info || keyOf(info.metadata) !== keyOf(CLUSTER_INFO)) return {};
    const secrets = lister(TokenSecret).byIndex(NAMESPACE_INDEX, TOKEN_NAMESPACE);
    const nowMs = clock.now();
    const data = decideSignatures(info.data ?? {}, secrets, nowMs);
    if (data) {
      const { resourceVersion, uid } = info.metadata;
      const removed = Object.keys(info.data ?? {}).filter((key) => data[key] === undefined);
      const changed = { ...data, ...Object.fromEntries(removed.map((key) => [key, null])) };
      const body = { metadata: { uid, resourceVersion }, data: changed };
      await unlessGone(client.patch(CONFIG_MAP, CLUSTER_INFO, { type: 'merge', body }));
    }
    const expiries = secrets.filter(isBootstrapToken).map((secret) => expiryOf(secret) - nowMs);
    const next = Math.min(...expiries.filter((ms) => ms > 0));
    return next === Infinity ? {} : { requeueAfterMs: Math.min(next, LONGEST_MS) };
  },
});
