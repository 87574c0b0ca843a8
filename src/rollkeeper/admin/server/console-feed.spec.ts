import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Deployment } from '../../../machinery/kubernetes/index.js';
import { anAdminPorts } from './admin-ports.fixture.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { FakeInformers } from '../../../testing/fake-informers.js';
import { ClusterView } from './cluster-view.js';
import type { FeedEvent } from './feed-events.js';
import { ConsoleFeed } from './console-feed.js';
import { ExplainSource } from './explain-source.js';
import { OtherReplicas } from './other-replicas.js';
import { SlotReplicas } from './slot-replicas.js';
import { StoreWatch } from './store-watch.js';

function feedOf(ports: ReturnType<typeof anAdminPorts>, store: StoreWatch): ConsoleFeed {
  const others = new OtherReplicas(ports, store);
  const view = new ClusterView(ports, store, others);
  const source = new ExplainSource(ports, view, store);
  return new ConsoleFeed(ports, view, source, store, others, new SlotReplicas(ports, others));
}

describe('the live feed of the console', () => {
  let cluster: FakeCluster;
  let ports: ReturnType<typeof anAdminPorts>;
  let feed: ConsoleFeed;
  let store: StoreWatch;
  let leave: AbortController;
  let events: FeedEvent[];

  beforeEach(async () => {
    cluster = new FakeCluster();
    ports = anAdminPorts({ informers: new FakeInformers(cluster) });
    store = new StoreWatch(ports);
    feed = feedOf(ports, store);
    leave = new AbortController();
    events = [];
    await cluster.create(Deployment, named('web'));
  });

  afterEach(() => leave.abort());

  const named = (name: string): Deployment => {
    const { metadata, ...deployment } = aDeployment({ replicas: 0 });
    return { ...deployment, metadata: { name, namespace: 'default', labels: metadata.labels } };
  };
  /** Connects a viewer and waits for the first events. */
  const look = async (): Promise<Promise<void>> => {
    const serving = feed.serve(
      { send: (event) => void events.push(event), drained: async () => undefined },
      leave.signal,
    );
    await pass(1);
    return serving;
  };
  const pass = async (ms: number): Promise<void> => {
    await ports.clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
    await ports.clock.advance(0);
  };
  const keys = (): string[] =>
    events.flatMap((event) => (event.type === 'deployments' ? event.changed.map(({ key }) => key) : []));

  it('says which release a Deployment belongs to', async () => {
    const deployment = named('api');
    deployment.metadata.annotations = { 'rollkeeper.dev/release': 'shop-42' };
    await cluster.create(Deployment, deployment);
    void look();
    await pass(10);
    const changed = events.flatMap((event) => (event.type === 'deployments' ? event.changed : []));
    expect(changed.map(({ key, release }) => [key, release])).toEqual(
      expect.arrayContaining([
        ['default/web', undefined],
        ['default/api', 'shop-42'],
      ]),
    );
  });

  it('tells all that there is, then that this was all', async () => {
    void look();
    await pass(10);
    expect(events[0]).toMatchObject({ type: 'hello', identity: 'controller-0', watchesDeployments: true });
    expect(keys()).toEqual(['default/web']);
    expect(events.map(({ type }) => type)).toContain('listed');
  });

  it('says where there are no rollouts to be shown, because no controller watches Deployments', async () => {
    const others = anAdminPorts();
    const silent = new StoreWatch(others);
    const seen: FeedEvent[] = [];
    const viewer = { send: (event: FeedEvent) => void seen.push(event), drained: async () => undefined };
    void feedOf(others, silent).serve(viewer, leave.signal);
    expect(seen[0]).toMatchObject({ type: 'hello', watchesDeployments: false });
  });

  it('tells a change once, however often it changed meanwhile, and what is gone', async () => {
    void look();
    await pass(10);
    events.length = 0;
    await cluster.create(Deployment, named('other'));
    await cluster.delete(Deployment, { namespace: 'default', name: 'web' });
    await pass(200);
    expect(keys()).toEqual(['default/other']);
    expect(events.find((event) => event.type === 'deployments')).toMatchObject({ gone: ['default/web'] });
  });

  it('tells leader, lease, queues and decisions as time goes on', async () => {
    void look();
    await pass(600);
    ports.decisions.add({
      atMs: ports.clock.now() + 1,
      controller: 'deployment',
      key: 'default/web',
      replica: 'controller-0',
      actions: ['create web-1'],
    });
    events.length = 0;
    await pass(600);
    expect(events.find((event) => event.type === 'cluster')).toMatchObject({
      cluster: { leader: 'controller-0' },
      queues: [{ controller: 'deployment', parked: [] }],
    });
    expect(events.find((event) => event.type === 'decisions')).toMatchObject({
      decisions: [{ actions: ['create web-1'] }],
    });
  });

  it('does nothing any more once nobody looks', async () => {
    void look();
    await pass(10);
    leave.abort();
    await pass(1000);
    events.length = 0;
    await cluster.create(Deployment, named('late'));
    await pass(2000);
    expect(events).toEqual([]);
    expect(ports.clock.pendingTimers).toBe(0);
  });
});
