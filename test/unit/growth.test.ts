import { Connections } from '../../src/apiserver/http/connections.js';
import { InFlightLimit } from '../../src/apiserver/http/in-flight-limit.js';
import { DueNames } from '../../src/apiserver/server/background/due-names.js';
import { NodeGraph } from '../../src/apiserver/access/authorization/node-graph.js';
import { MemoryStorage } from '../../src/apiserver/storage/memory-storage.js';
import { NewestTexts } from '../../src/apiserver/storage/newest-texts.js';
import { WatchRing } from '../../src/apiserver/storage/watch-ring.js';
import { ApiEventRecorder } from '../../src/client/events/index.js';
import { ObjectStore } from '../../src/client/informer/store.js';
import { OwnershipIndex } from '../../src/controllers/garbage-collector/ownership-index.js';
import { SeededRandom } from '../../src/machinery/clock/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { ReasonAccess } from '../../src/rollkeeper/admin/server/health.controller.js';
import { DecisionLog } from '../../src/rollkeeper/insight/explain/decision-log.js';
import { MemoryActorRuntime } from '../../src/testing/memory-actor-runtime.js';
import { MemoryActorStore } from '../../src/runtime/activation/index.js';
import { Enqueuer } from '../../src/runtime/controller/enqueuer.js';
import { WrittenVersions } from '../../src/runtime/operator/coordination/intent-shard.js';
import { MemoryWorkQueue } from '../../src/runtime/work-queue/index.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { aPod } from '../../src/testing/pod-builder.js';
import type { PassingKeys } from './support/passing-keys.js';
import { describePassingKeys } from './support/passing-keys.js';

const never = new AbortController().signal;

const podOf = (index: number): Pod => {
  const pod = aPod({ name: `pod-${index}` });
  pod.spec.nodeName = `node-${index}`;
  return pod;
};

const SORTS: readonly PassingKeys[] = [
  {
    name: 'actors in memory whose last run succeeded',
    make(clock) {
      const store = new MemoryActorStore(clock);
      const actors = new MemoryActorRuntime({ clock, store });
      const use = (index: number) =>
        actors.activate('job', `ns/job-${index}`, never, async (activation) => {
          activation.recordOwnWrite('pods', String(index));
        });
      return { kept: store, use };
    },
  },
  {
    name: 'adds of keys that need no run',
    make(clock) {
      const adds = { add: async () => undefined, addWithCauses: async () => undefined };
      const options = { controller: 'test', clock, logger: silentLogger, adds, needsSync: () => false };
      const enqueuer = new Enqueuer(options);
      const enqueue = enqueuer.enqueueUntil(never);
      const use = (index: number) =>
        enqueue({
          ref: { namespace: 'ns', name: `service-${index}` },
          cause: { type: Pod, resourceVersion: String(index + 1) },
          onlyIfNeeded: true,
        });
      return { kept: enqueuer, use };
    },
  },
  {
    name: 'namespaces that were written to',
    make(clock) {
      const written = new WrittenVersions(() => clock.monotonicNow());
      return { kept: written, use: (index) => written.note(`ns-${index}`, { pods: String(index) }) };
    },
  },
  {
    name: 'keys, timers and failures of the queue in memory',
    make(clock) {
      const queue = new MemoryWorkQueue({ name: 'test', clock });
      const use = async (index: number): Promise<void> => {
        const key = `ns-${index}/job`;
        await queue.addAfter(key, 86_400_000, { reason: 'requeue' });
        await queue.addRateLimited(key, new Error('refused'));
        await queue.forget(key);
        await queue.park(key, new Error('refused'));
        await queue.add(key);
        await queue.purge(key);
      };
      return { kept: queue, use };
    },
  },
  {
    name: 'objects of an informer with an index',
    make() {
      const store = new ObjectStore<Pod>();
      store.addIndex('node', ({ spec }) => [spec.nodeName ?? '']);
      const use = (index: number): void => {
        const pod = { ...podOf(index), metadata: { ...podOf(index).metadata, resourceVersion: '1' } };
        store.upsert(pod);
        store.replace([], false);
      };
      return { kept: store, use };
    },
  },
  {
    name: 'objects and owners of the garbage collector',
    make() {
      const index = new OwnershipIndex();
      const use = (at: number): void => {
        const owner = { apiVersion: 'v1', kind: 'Pod', name: 'owner', uid: `owner-${at}` };
        const object: KubernetesObject = {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: `pod-${at}`, namespace: 'ns', uid: `uid-${at}`, ownerReferences: [owner] },
        };
        index.apply(Pod, { type: 'added', object, initial: false });
        index.apply(Pod, { type: 'deleted', object, finalStateUnknown: false });
      };
      return { kept: index, use };
    },
  },
  {
    name: 'Events about objects',
    make(clock) {
      const recorder = new ApiEventRecorder({
        ...{ client: new FakeCluster(clock), component: 'test', clock, logger: silentLogger },
        random: new SeededRandom(1),
        options: { remembered: 50, maxQueued: 50 },
      });
      const note = { type: 'Normal', reason: 'Test', message: 'a message' } as const;
      return { kept: recorder, use: (index) => recorder.record(podOf(index), note), fill: 60 };
    },
  },
  {
    name: 'decisions about keys',
    make() {
      const log = new DecisionLog({ keys: 50 });
      const use = (index: number) =>
        log.add({ controller: 'test', key: `ns/${index}`, atMs: index } as Parameters<typeof log.add>[0]);
      return { kept: log, use, fill: 60 };
    },
  },
  {
    name: 'watchers of resources in the watch ring',
    make(clock) {
      const limits = { maxEntries: 10, maxTextLength: 1000, wakeEveryMs: 0 };
      const ring = new WatchRing({ revision: 1, writeId: 'a' }, limits, clock);
      return { kept: ring, use: (index) => ring.onChange(`resource-${index}`, () => undefined)() };
    },
  },
  {
    name: 'objects in the memory of the API server',
    make(clock) {
      const storage = new MemoryStorage({ clock, maxLogEntries: 20 });
      const texts = new NewestTexts({ maxEntries: 20, maxTextLength: 100_000 });
      const use = async (index: number): Promise<void> => {
        const key = { resource: 'pods', namespace: `ns-${index}`, name: 'pod' };
        const { revision } = await storage.create(key, podOf(index));
        texts.learn(key, { revision, text: '{}' });
        await storage.delete(key, revision);
      };
      return { kept: [storage, texts], use, fill: 60 };
    },
  },
  {
    name: 'objects that nodes need',
    make() {
      const graph = new NodeGraph();
      const use = (index: number): void => {
        const key = { resource: 'pods', namespace: 'default', name: `pod-${index}` };
        graph.put(key, podOf(index));
        graph.put(key, undefined);
      };
      return { kept: graph, use };
    },
  },
  {
    name: 'connections and users of the API server',
    make(clock) {
      const connections = new Connections({
        clock,
        ...{ most: 1000, mostUnknownPerAddress: 10, unknownIdleMs: 1000 },
      });
      const limit = new InFlightLimit(
        { serving: 10, waiting: 10 },
        { clock, refusal: () => new Error('busy') },
      );
      const use = async (index: number): Promise<void> => {
        const closed: (() => void)[] = [];
        const socket = {
          remoteAddress: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
          remotePort: 1,
          destroy: () => undefined,
          once: (_event: 'close', listener: () => void) => closed.push(listener),
        };
        connections.opened(socket);
        connections.began(socket);
        connections.belongsTo(socket, `user-${index}`);
        const release = await limit.enter(`user-${index}`, () => never);
        release();
        connections.ended(socket);
        for (const close of closed) close();
      };
      return { kept: [connections, limit], use };
    },
  },
  {
    name: 'names that are due, and fail once',
    make(clock) {
      const failedOnce = new WeakSet<object>();
      let last: object = {};
      const names = new DueNames({
        clock,
        retryMs: 10,
        failed: () => true,
        look: async () => {
          if (failedOnce.has(last)) return;
          failedOnce.add(last);
          throw new Error('not yet');
        },
      });
      void names.run(never);
      const use = (index: number): void => {
        last = {};
        names.add(`name-${index}`);
      };
      return { kept: names, use };
    },
  },
  {
    name: 'addresses that have guessed tokens',
    make(clock) {
      const access = new ReasonAccess({ clock, token: 'right', delegated: undefined });
      const use = async (index: number): Promise<void> => {
        for (let guess = 0; guess < 12; guess++)
          await access.maySeeReasons({
            authorization: 'Bearer wrong',
            method: 'GET',
            path: '/readyz',
            remoteAddress: `10.0.${index >> 8}.${index & 255}`,
          } as Parameters<typeof access.maySeeReasons>[0]);
      };
      return { kept: access, use, fill: 1000 };
    },
  },
];

describePassingKeys(SORTS);
