import { expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import type { Violation } from '../chaos/checkers/violation.js';
import { StoreChecks } from './store-checks.js';

/** The checks of a store with a Deployment of two pods, whose limit is three, and its two ReplicaSets of one. */
function aStore() {
  const violations: Violation[] = [];
  const checks = new StoreChecks((violation) => void violations.push(violation));
  let revision = 0;
  const store = (
    resource: string,
    kind: string,
    metadata: KubernetesObject['metadata'],
    spec: object,
  ): void => {
    revision += 1;
    const resourceVersion = String(revision);
    const object = {
      ...{
        apiVersion: 'apps/v1',
        kind,
        metadata: { namespace: 'default', resourceVersion, ...metadata },
        spec,
      },
    } as KubernetesObject;
    checks.see({ resource, revision, object, deleted: false }, revision);
  };
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  store(
    'deployments.apps',
    'Deployment',
    { name: 'web', uid: 'web', generation: 1 },
    { replicas: 2, strategy },
  );
  const resize = (name: string, replicas: number): void => {
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'web', controller: true };
    store('replicasets.apps', 'ReplicaSet', { name, uid: name, ownerReferences: [owner] }, { replicas });
  };
  resize('old', 1);
  resize('new', 1);
  return { resize, violations };
}

it('sizes that grow beyond the limit are a violation', () => {
  const { resize, violations } = aStore();
  resize('new', 3);
  expect(violations.map(({ problem }) => problem)).toContain(
    'sizes were made to add up to 4, the limit is 3 (revision 4)',
  );
});
