import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { Deployment } from '../../machinery/kubernetes/index.js';
import { aDeployment } from '../deployment-builder.js';
import { FakeCluster } from '../fake-cluster.js';
import { MadeObjects } from './made-objects.js';

const named = (name: string, finalizers?: string[]): Deployment => ({
  ...aDeployment(),
  metadata: { namespace: 'default', name, ...(finalizers && { finalizers }) },
});

describe('the objects that a test has made', () => {
  let clock: FakeClock;
  let cluster: FakeCluster;
  let made: MadeObjects;
  const deleted = () => cluster.requests.filter(({ verb }) => verb === 'delete').map(({ key }) => key);

  beforeEach(() => {
    clock = new FakeClock();
    cluster = new FakeCluster(clock);
    made = new MadeObjects(cluster, clock);
  });

  it('are deleted, the newest first, and nothing else is', async () => {
    cluster.seed(Deployment, named('theirs'));
    const client = made.clientOf(cluster);
    for (const name of ['one', 'two']) await client.create(Deployment, named(name));
    await made.remove();
    expect(deleted()).toEqual(['default/two', 'default/one']);
    expect(cluster.all(Deployment).map(({ metadata }) => metadata.name)).toEqual(['theirs']);
  });

  it('are not those of a dry run', async () => {
    await made.clientOf(cluster).create(Deployment, named('one'), { dryRun: true });
    await made.remove();
    expect(deleted()).toEqual([]);
  });

  it('are not another object that has come to have the name of one', async () => {
    await made.clientOf(cluster).create(Deployment, named('one'));
    cluster.vanish(Deployment, 'default/one');
    cluster.seed(Deployment, named('one'));
    await made.remove();
    expect(cluster.all(Deployment)).toHaveLength(1);
  });

  it('are waited for, and named with their finalizers if they stay', async () => {
    await made.clientOf(cluster).create(Deployment, named('kept', ['example.com/dns']));
    const removed = expect(made.remove(1000)).rejects.toThrow(
      'Deployment default/kept was deleted and is still there; its finalizers are example.com/dns',
    );
    await clock.advance(2000);
    await removed;
  });

  it('go with all that they own, at any depth, but not with what has another owner as well', async () => {
    const { metadata } = await made.clientOf(cluster).create(Deployment, named('one'));
    const ownedBy = (...uids: (string | undefined)[]) => ({
      ownerReferences: uids.map((uid = '') => ({ apiVersion: 'v1', kind: 'Any', name: 'any', uid })),
    });
    const own = (name: string, ...uids: (string | undefined)[]) =>
      cluster.seed(Deployment, {
        ...named(name),
        metadata: { ...named(name).metadata, ...ownedBy(...uids) },
      });
    const child = own('child', metadata.uid);
    own('grandchild', child.metadata.uid);
    own('shared', metadata.uid, 'another');
    own('foreign', 'another');
    cluster.discovered = cluster.discovered.map((type) => ({ ...type, verbs: ['list', 'get', 'delete'] }));
    await made.remove();
    expect(cluster.all(Deployment).map((each) => each.metadata.name)).toEqual(['shared', 'foreign']);
  });

  it('are all tried although one cannot be deleted', async () => {
    const client = made.clientOf(cluster);
    for (const name of ['one', 'two']) await client.create(Deployment, named(name));
    cluster.intercept = ({ key, verb }) =>
      verb === 'delete' && key === 'default/two' ? new Error('not allowed') : undefined;
    await expect(made.remove()).rejects.toThrow('not allowed');
    expect(cluster.all(Deployment).map(({ metadata }) => metadata.name)).toEqual(['two']);
  });
});
