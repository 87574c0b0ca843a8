import { describe, expect, it } from 'vitest';
import { SystemClock, SystemRandom } from '../../src/machinery/clock/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import type { RolloutEnd, RolloutReporter } from '../../src/rollkeeper/insight/rollout/index.js';
import { WatchedRollout, followRollout } from '../../src/rollkeeper/insight/rollout/index.js';
import type { ManifestObject } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

const TIMEOUT_MS = 20_000;
const REF = { namespace: 'default', name: 'web' };
const SILENT: RolloutReporter = { show: () => undefined, end: () => undefined };

const WEB: ManifestObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: REF,
  spec: {
    replicas: 2,
    progressDeadlineSeconds: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:broken' }] },
    },
  },
};

/** `user` may get, list and watch these resources of the namespace default, and nothing else. */
function mayRead(user: string, apiGroups: string[], resources: string[]): ManifestObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { namespace: 'default', name: user };
  const rules = [{ apiGroups, resources, verbs: ['get', 'list', 'watch'] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
  return [
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
  ];
}

describe('a wait for a rollout by a user of one namespace', () => {
  it('ends with the cause where ReplicaSets and pods may be read, and otherwise by what the Deployment says', async () => {
    await using cluster = await startTestCluster({
      users: ['jane', 'bob', 'eve'],
      manifests: [
        ...mayRead('jane', ['', 'apps'], ['deployments', 'replicasets', 'pods']),
        ...mayRead('bob', ['apps'], ['deployments']),
        WEB,
      ],
    });
    const waitAs = async (name: string): Promise<RolloutEnd> => {
      const { client } = await cluster.user(name);
      const clock = new SystemClock();
      const deployment = await cluster.client.get<Deployment>(Deployment, REF);
      const target = { client, type: Deployment, deployment };
      const source = new WatchedRollout(target, { clock, random: new SystemRandom() });
      const { signal } = new AbortController();
      const options = { clock, timeoutMs: TIMEOUT_MS, reporter: SILENT };
      return source.watching(TIMEOUT_MS, signal, () => followRollout(source, options, signal));
    };
    const [jane, bob] = await Promise.all([waitAs('jane'), waitAs('bob')]);
    expect(jane).toMatchObject({ outcome: 'failed', report: { cause: { code: 'image-pull' } } });
    expect(bob.outcome).toBe('failed');
    expect(bob.report.cause).toBeUndefined();
    expect(bob.report.message).toContain('exceeded its progress deadline: ReplicaSet "web-');
    await expect(waitAs('eve')).rejects.toThrow('its Deployment cannot be watched: ');
  });
});
