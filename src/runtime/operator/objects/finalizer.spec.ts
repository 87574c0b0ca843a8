import { beforeEach, describe, expect, it } from 'vitest';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { withFinalizer } from './finalizer.js';
import { Deployment } from '../../../machinery/kubernetes/index.js';

const NAME = 'example.com/bucket';

describe('a finalizer', () => {
  let cluster: FakeCluster;
  let calls: string[];
  const stored = () => cluster.peek<Deployment>(Deployment, 'default/web');
  const sync = (
    object = stored(),
    cleanup: () => Promise<{ requeueAfterMs: number } | void> = async () => {},
  ) => {
    if (!object) throw new Error('gone');
    return withFinalizer(cluster, Deployment, object, {
      name: NAME,
      apply: async ({ metadata }) => {
        calls.push(
          `apply with ${metadata.finalizers?.join() ?? 'none'}; stored ${stored()?.metadata.finalizers?.join()}`,
        );
      },
      cleanup: async () => {
        calls.push('cleanup');
        return cleanup();
      },
    });
  };
  const remove = () => cluster.delete(Deployment, { namespace: 'default', name: 'web' });

  beforeEach(() => {
    cluster = new FakeCluster();
    calls = [];
    cluster.seed(Deployment, aDeployment());
  });

  it('is stored before anything is applied', async () => {
    await sync();
    expect(calls).toEqual([`apply with ${NAME}; stored ${NAME}`]);
    await sync();
    expect(calls).toHaveLength(2);
    expect(cluster.count('patch')).toBe(1);
  });

  it('keeps anything from being applied while it cannot be stored', async () => {
    cluster.intercept = ({ verb }) => (verb === 'patch' ? new Error('no') : undefined);
    await expect(sync()).rejects.toThrow('no');
    expect(calls).toEqual([]);
  });

  it('keeps the object until the clean-up has succeeded, and is called no more after that', async () => {
    await sync();
    await remove();
    calls = [];
    await expect(sync(undefined, () => Promise.reject(new Error('still in use')))).rejects.toThrow('in use');
    expect(stored()?.metadata.finalizers).toEqual([NAME]);
    expect(await sync(undefined, async () => ({ requeueAfterMs: 5 }))).toEqual({ requeueAfterMs: 5 });
    expect(stored()).toBeDefined();
    const last = stored();
    await sync();
    expect(stored()).toBeUndefined();
    expect(calls).toEqual(['cleanup', 'cleanup', 'cleanup']);
    // From a cache that does not know yet: it is gone, and that is fine.
    await expect(sync(last)).resolves.toEqual({});
  });

  it('leaves those of others where they are, and takes nothing off a newer state', async () => {
    await sync();
    const old = stored();
    await cluster.patch(
      Deployment,
      { namespace: 'default', name: 'web' },
      {
        type: 'merge',
        body: { metadata: { finalizers: [NAME, 'example.com/other'] } },
      },
    );
    await remove();
    await expect(
      sync({ ...old!, metadata: { ...old!.metadata, deletionTimestamp: 'now' } }),
    ).rejects.toMatchObject({ code: 409 });
    await sync();
    expect(stored()?.metadata.finalizers).toEqual(['example.com/other']);
    calls = [];
    await sync();
    expect(calls).toEqual([]);
  });

  it('must have a domain', async () => {
    const object = stored()!;
    const steps = { name: 'bucket', apply: async () => {}, cleanup: async () => {} };
    await expect(withFinalizer(cluster, Deployment, object, steps)).rejects.toMatchObject({
      option: 'finalizer.name',
    });
  });
});
