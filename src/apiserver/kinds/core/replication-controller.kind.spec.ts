import { expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { REPLICATION_CONTROLLER_KIND } from './replication-controller.kind.js';

it('a ReplicationController has the labels of its template, also after a status without labels and spec', () => {
  const metadata = { name: 'web', namespace: 'default' };
  const meta = { apiVersion: 'v1', kind: 'ReplicationController' };
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image: 'c:1' }] },
  };
  const old = { ...meta, metadata: { ...metadata, labels: {} }, spec: { template } } as UnstructuredObject;
  REPLICATION_CONTROLLER_KIND.applyDefaults(old);
  expect([old.metadata.labels, old.spec]).toMatchObject([{ app: 'web' }, { selector: { app: 'web' } }]);
  const written = { ...meta, metadata: { ...metadata }, status: { replicas: 1 } } as UnstructuredObject;
  REPLICATION_CONTROLLER_KIND.applyDefaults(written);
  REPLICATION_CONTROLLER_KIND.prepareForUpdate(written, old, 'status', 0);
  expect(written.metadata.labels).toEqual({ app: 'web' });
});
