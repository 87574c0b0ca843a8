import { Heartbeats } from '../../src/controllers/node-lifecycle/heartbeats.js';
import { Lease, Node } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { SchedulerCache } from '../../src/scheduler/cache/scheduler-cache.js';
import { podInfoOf } from '../../src/scheduler/node/pod-info.js';
import { EveryNode } from '../../src/scheduler/plugins/per-node.js';
import { aQueue, refusedBy, waitingPod } from '../../src/scheduler/queue/scheduling-queue.fixture.js';
import { AssumedObjects } from '../../src/scheduler/run/assumed-objects.js';
import { PermitQueue } from '../../src/scheduler/run/waiting-pods.js';
import { KeyedExecutor } from '../../src/simulator/keyed-executor.js';
import { PodAddresses } from '../../src/simulator/pod-addresses.js';
import { WrittenPods } from '../../src/simulator/node-simulator.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { FakeInformers } from '../../src/testing/fake-informers.js';
import { aPod } from '../../src/testing/pod-builder.js';
import type { PassingKeys } from './support/passing-keys.js';
import { describePassingKeys } from './support/passing-keys.js';

const never = new AbortController().signal;

const podOf = (index: number) => {
  const pod = aPod({ name: `pod-${index}` });
  pod.spec.nodeName = `node-${index}`;
  return pod;
};

const SORTS: readonly PassingKeys[] = [
  {
    name: 'nodes of the scheduler, with their zones and images',
    make() {
      const cache = new SchedulerCache();
      const use = (index: number): void => {
        const name = `node-${index}`;
        const node: Node = {
          ...{ apiVersion: 'v1', kind: 'Node' },
          metadata: { name, uid: name, labels: { 'topology.kubernetes.io/zone': `zone-${index}` } },
          status: { images: [{ names: [`image-${index}:1`], sizeBytes: 1 }] },
        };
        cache.setNode(node);
        cache.removeNode(name);
      };
      return { kept: cache, use };
    },
  },
  {
    name: 'questions about all nodes',
    make() {
      const every = new EveryNode<number>(() => []);
      return { kept: every, use: (index) => void every.of([], `question-${index}`, () => 1), fill: 100 };
    },
  },
  {
    name: 'pods that wait for their permit, and are allowed or refused',
    make(clock) {
      const permits = new PermitQueue(clock);
      const use = async (index: number): Promise<void> => {
        const pod = aPod({ name: `pod-${index}` });
        const uid = `uid-${index}`;
        const delays = [{ plugin: 'a' }, { plugin: 'b' }];
        const verdict = permits.wait({ ...pod, metadata: { ...pod.metadata, uid } }, 'node-1', delays);
        permits.get(uid)?.allow('a');
        if (index % 2 === 0) permits.get(uid)?.allow('b');
        else permits.get(uid)?.reject('b', 'no');
        await verdict;
      };
      return { kept: [permits, clock], use };
    },
  },
  {
    name: 'pods that simulated nodes run, wake and try again',
    make(clock) {
      const gone = new Set<string>();
      let tries = 0;
      const work = async (key: string): Promise<{ wakeInMs?: number }> => {
        if (gone.has(key)) return {};
        if (tries++ % 3 === 0) throw new Error('no answer');
        return { wakeInMs: 3_600_000 };
      };
      const executor = new KeyedExecutor(work, { concurrency: 10, clock, logger: silentLogger });
      void executor.run(never);
      const use = async (index: number): Promise<void> => {
        const key = `pod-${index}`;
        executor.add(key);
        await clock.advance(0);
        gone.add(key);
        executor.add(key);
        await clock.advance(0);
        gone.delete(key);
      };
      return { kept: [executor, clock], use };
    },
  },
  {
    name: 'pods that the scheduler places',
    make() {
      const cache = new SchedulerCache();
      const use = (index: number): void => {
        const pod = podOf(index);
        const info = podInfoOf(pod);
        cache.nominate(info, `node-${index}`);
        cache.assume(info, `node-${index}`);
        cache.confirm(info.key);
        cache.setPod(pod);
        cache.removePod(info.key);
      };
      return { kept: cache, use };
    },
  },
  {
    name: 'pods that wait for a node',
    make() {
      const { clock, queue, take } = aQueue();
      const use = async (index: number): Promise<void> => {
        const pod = waitingPod(`pod-${index}`);
        queue.add(pod);
        const entry = await take();
        if (entry) queue.putBack(entry, refusedBy('Cpu'));
        queue.delete(pod);
      };
      return { kept: [queue, clock], use };
    },
  },
  {
    name: 'claims that the scheduler has assumed to be bound',
    make(clock) {
      const assumed = new AssumedObjects({ get: () => undefined, list: () => [] }, clock);
      const use = (index: number): void =>
        assumed.assume('persistentvolumeclaims', {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: `claim-${index}`, namespace: 'ns', resourceVersion: '1', uid: `uid-${index}` },
        });
      return { kept: assumed, use, fill: 200 };
    },
  },
  {
    name: 'addresses and writes of simulated pods',
    make() {
      const addresses = new PodAddresses();
      const written = new WrittenPods({ get: () => undefined });
      const use = (index: number): void => {
        addresses.addressFor(`uid-${index}`, 0);
        written.set(`default/pod-${index}`, podOf(index));
        addresses.release(`uid-${index}`);
      };
      return { kept: [addresses, written], use };
    },
  },
  {
    name: 'heartbeats of nodes whose Leases outlive them',
    make(clock) {
      const cluster = new FakeCluster(clock);
      const informers = new FakeInformers(cluster);
      const heartbeats = new Heartbeats('kube-node-lease', clock);
      heartbeats.follow(informers.informerFor<Node>(Node), informers.informerFor<Lease>(Lease));
      const use = async (index: number): Promise<void> => {
        const name = `node-${index}`;
        const lease = { namespace: 'kube-node-lease', name };
        await cluster.create<Node>(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
        await cluster.delete(Node, { name });
        await cluster.create<Lease>(Lease, {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: lease,
          spec: { renewTime: `${index}` },
        });
        await cluster.delete(Lease, lease);
      };
      return { kept: heartbeats, use };
    },
  },
];

describePassingKeys(SORTS);
