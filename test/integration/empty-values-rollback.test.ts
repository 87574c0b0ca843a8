import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deployment, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startManagedCluster, web } from './support/managed-cluster.js';

const PATIENT = { timeoutMs: 120_000 };
const REVISION = 'deployment.kubernetes.io/revision';

/** Everything that is empty, and means something where it is. */
const EMPTIES = {
  pod: {
    automountServiceAccountToken: false,
    hostNetwork: false,
    nodeSelector: {},
    securityContext: {},
    terminationGracePeriodSeconds: 0,
    tolerations: [],
  },
  container: {
    args: [],
    env: [{ name: 'EMPTY', value: '' }],
    resources: {},
    securityContext: {},
    tty: false,
  },
};

describe.each(['apps/v1', 'rollkeeper.dev/v1'] as const)(
  'the recorded revisions of a Deployment of %s',
  { timeout: 120_000 },
  (api) => {
    let cluster: TestCluster;
    beforeAll(async () => {
      cluster = await startManagedCluster();
    }, 60_000);
    afterAll(() => cluster.stop());

    const path = api === 'apps/v1' ? 'deployments.apps/web' : 'deployments.rollkeeper.dev/web';
    const rolledOut = async (): Promise<Deployment> => {
      const found = await cluster.waitFor<Deployment>(path, 'rollout', PATIENT);
      await cluster.settled(PATIENT);
      return found as Deployment;
    };
    const sets = (): Promise<ReplicaSet[]> => cluster.list<ReplicaSet>('replicasets');

    it('give back a template with its empty values, without another ReplicaSet', async () => {
      await cluster.apply(web({ api, ...EMPTIES }));
      const first = await rolledOut();
      const [recorded, ...more] = await sets();
      expect(more).toEqual([]);
      expect(recorded?.spec.template?.spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: {},
        terminationGracePeriodSeconds: 0,
        containers: [{ env: [{ name: 'EMPTY' }], securityContext: {} }],
      });
      await cluster.apply(
        web({ api, pod: { terminationGracePeriodSeconds: 5, automountServiceAccountToken: true } }),
      );
      await rolledOut();
      await cluster.patch(path, { metadata: { annotations: { 'deprecated.deployment.rollback.to': '1' } } });
      await cluster.waitFor<Deployment>(
        path,
        (object) => object?.metadata.annotations?.[REVISION] === '3',
        PATIENT,
      );
      const back = await rolledOut();
      if (api === 'apps/v1') expect(back.spec.template).toEqual(first.spec.template);
      const after = await sets();
      expect(after.map(({ spec }) => spec.replicas).sort()).toEqual([0, 2]);
      const again = after.find(({ metadata }) => metadata.uid === recorded?.metadata.uid);
      expect(again?.spec.template).toEqual(recorded?.spec.template);
      expect(again?.spec.replicas).toBe(2);
    });
  },
);
