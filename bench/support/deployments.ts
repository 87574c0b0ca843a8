import type { ApiClient } from '../../src/client/api-client/index.js';
import { SeededRandom, SystemClock } from '../../src/machinery/clock/index.js';
import { SharedInformer } from '../../src/client/informer/index.js';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import { Deployment, Pod, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';

/** The Deployments that are known here. */
export interface WatchedDeployments {
  list(): readonly Deployment[];
  /** Changes of them and of ReplicaSets that were seen. */
  readonly writes: number;
  stop(): Promise<void>;
}

/** Watches them, which a benchmark must do instead of listing them again and again: that would cost as much as what is measured. */
export async function watchDeployments(client: ApiClient): Promise<WatchedDeployments> {
  const shared = { client, clock: new SystemClock(), random: new SeededRandom(1), logger: silentLogger };
  const watching = new AbortController();
  let writes = 0;
  const watch = async <T extends KubernetesObject>(type: ResourceType): Promise<Watched<T>> => {
    const informer = new SharedInformer<T>({ ...shared, type });
    informer.addEventHandler(() => writes++);
    const running = informer.run(watching.signal);
    await informer.waitForSync(watching.signal);
    return { informer, running };
  };
  const [deployments, replicaSets] = await Promise.all([watch<Deployment>(Deployment), watch(ReplicaSet)]);
  return {
    list: () => deployments.informer.lister.list() as readonly Deployment[],
    get writes() {
      return writes;
    },
    stop: async () => {
      watching.abort(new Error('measured'));
      await Promise.all([deployments.running, replicaSets.running]);
    },
  };
}

/** The pods that were made since they are watched. */
export interface WatchedPods {
  readonly made: number;
  stop(): Promise<void>;
}

export async function watchPods(client: ApiClient): Promise<WatchedPods> {
  const shared = { client, clock: new SystemClock(), random: new SeededRandom(1), logger: silentLogger };
  const watching = new AbortController();
  const informer = new SharedInformer<KubernetesObject>({ ...shared, type: Pod });
  const uids = new Set<string>();
  informer.addEventHandler((event) => {
    if (event.type === 'added' && !event.initial) uids.add(event.object.metadata.uid ?? '');
  });
  const running = informer.run(watching.signal);
  await informer.waitForSync(watching.signal);
  return {
    get made() {
      return uids.size;
    },
    stop: async () => {
      watching.abort(new Error('measured'));
      await running;
    },
  };
}

interface Watched<T extends KubernetesObject> {
  readonly informer: SharedInformer<T>;
  readonly running: Promise<void>;
}

/** As `kubectl set image` does, of a Deployment in `default` with one container, `web`. */
export async function setImage(client: ApiClient, name: string, image: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
  await client.patch(Deployment, { namespace: 'default', name }, { type: 'strategic', body });
}
