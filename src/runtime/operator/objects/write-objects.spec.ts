import { beforeEach, describe, expect, it } from 'vitest';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { ConfigMap, Deployment } from '../../../machinery/kubernetes/index.js';
import { createOrUpdate, serverSideApply, updateStatus } from './write-objects.js';

const REF = { namespace: 'default', name: 'settings' };

describe('writing an object', () => {
  let cluster: FakeCluster;
  beforeEach(() => (cluster = new FakeCluster()));

  describe('with createOrUpdate', () => {
    const write = (data: Record<string, string>) =>
      createOrUpdate(cluster, ConfigMap, REF, (object) => {
        object.data = { ...object.data, ...data };
      });

    it('creates, updates, and writes nothing that is there already', async () => {
      expect((await write({ a: '1' })).did).toBe('created');
      expect((await write({ a: '1' })).did).toBe('nothing');
      expect((await write({ b: '2' })).did).toBe('updated');
      expect(cluster.peek<ConfigMap>(ConfigMap, 'default/settings')).toMatchObject({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        data: { a: '1', b: '2' },
      });
      expect([cluster.count('create'), cluster.count('update')]).toEqual([1, 1]);
    });

    it('loses against a writer in between', async () => {
      await write({ a: '1' });
      const racing = createOrUpdate(cluster, ConfigMap, REF, async (object) => {
        await write({ b: '2' });
        object.data = {};
      });
      await expect(racing).rejects.toMatchObject({ code: 409 });
    });

    it('refuses to be led to another object', async () => {
      const renaming = createOrUpdate(cluster, ConfigMap, REF, ({ metadata }) => void (metadata.name = 'x'));
      await expect(renaming).rejects.toMatchObject({ option: 'metadata' });
      expect(cluster.count('create')).toBe(0);
    });

    it('passes on every error but that there is none', async () => {
      cluster.intercept = () => new Error('down');
      await expect(write({})).rejects.toThrow('down');
    });
  });

  it('applies the named fields, for the named manager, by force', async () => {
    const patches: unknown[] = [];
    const client = { ...cluster, patch: (...args: unknown[]) => (patches.push(args), Promise.resolve({})) };
    const object = { metadata: { ...REF, labels: { app: 'web' } }, data: { a: '1' } };
    await serverSideApply(client as unknown as FakeCluster, ConfigMap, object, { fieldManager: 'me' });
    expect(patches).toEqual([
      [
        ConfigMap,
        object.metadata,
        { type: 'apply', body: { apiVersion: 'v1', kind: 'ConfigMap', ...object } },
        { fieldManager: 'me', force: true, subresource: undefined },
      ],
    ]);
  });

  describe('the status', () => {
    const stored = () => cluster.peek<Deployment>(Deployment, 'default/web')!;
    beforeEach(() => void cluster.seed(Deployment, aDeployment()));

    it('is written where it differs, whole, and not otherwise', async () => {
      const status = { replicas: 2, conditions: [{ type: 'Available', status: 'True' }] };
      await updateStatus(cluster, Deployment, stored(), status);
      expect(stored().status).toEqual(status);
      await updateStatus(cluster, Deployment, stored(), { replicas: 3 });
      expect(stored().status).toEqual({ replicas: 3 });
      await updateStatus(cluster, Deployment, stored(), { replicas: 3 });
      expect(cluster.requests.map(({ subresource }) => subresource)).toEqual(['status', 'status']);
    });

    it('is not written over a newer state, nor to another object of that name', async () => {
      const old = stored();
      await updateStatus(cluster, Deployment, old, { replicas: 1 });
      await expect(updateStatus(cluster, Deployment, old, { replicas: 2 })).rejects.toMatchObject({
        code: 409,
      });
      const other = { ...stored(), metadata: { ...stored().metadata, uid: 'other' } };
      await expect(updateStatus(cluster, Deployment, other, { replicas: 2 })).rejects.toMatchObject({
        code: 409,
      });
    });
  });
});
