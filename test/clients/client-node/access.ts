import assert from 'node:assert/strict';
import {
  AuthenticationV1Api,
  AuthorizationV1Api,
  CoreV1Api,
  Health,
  KubeConfig,
  VersionApi,
} from '@kubernetes/client-node';
import type { ClientCheck } from '../check.js';
import { kubeConfigOf, refused } from './support.js';

export const ACCESS_CHECKS: readonly ClientCheck[] = [
  {
    name: 'comes in by a token, and may do what roles say',
    async run({ cluster, namespace }) {
      const config = kubeConfigOf(cluster);
      const core = config.makeApiClient(CoreV1Api);
      await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'reader' } } });
      await cluster.apply({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'reader', namespace },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
      });
      const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
      const { status } = await core.createNamespacedServiceAccountToken({
        ...{ namespace, name: 'reader' },
        body: { ...request, spec: { audiences: [], expirationSeconds: 3600 } },
      });
      const reader = withToken(config, status?.token ?? '');
      const asReader = reader.makeApiClient(CoreV1Api);
      assert.deepEqual((await asReader.listNamespacedPod({ namespace })).items, []);
      const username = `system:serviceaccount:${namespace}:reader`;
      const forbidden = await refused(asReader.listNamespacedSecret({ namespace }), 403, 'Forbidden');
      assert.equal(
        forbidden.message,
        `secrets is forbidden: User "${username}" cannot list resource "secrets" in API group "" in the namespace "${namespace}"`,
      );
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const who = await reader.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: review });
      assert.equal(who.status?.userInfo?.username, username);
      const access = await reader.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({
        body: { spec: { resourceAttributes: { namespace, verb: 'list', resource: 'configmaps' } } },
      });
      assert.equal(access.status?.allowed, true);
      const stranger = withToken(config, 'nobody').makeApiClient(CoreV1Api);
      // The client does not show the body of a 401.
      await assert.rejects(stranger.listNamespacedPod({ namespace }), { code: 401 });
    },
  },
  {
    name: 'learns that the server is alive, ready, and which version it is',
    async run({ cluster }) {
      const config = kubeConfigOf(cluster);
      const health = new Health(config);
      assert.deepEqual([await health.livez({}), await health.readyz({})], [true, true]);
      assert.match((await config.makeApiClient(VersionApi).getCode()).gitVersion, /^v1\.\d+/);
    },
  },
];

function withToken(config: KubeConfig, token: string): KubeConfig {
  const other = new KubeConfig();
  other.loadFromClusterAndUser(config.getCurrentCluster()!, { name: 'other', token });
  return other;
}
