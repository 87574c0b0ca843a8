import type { ApiClient } from '../../src/kit/api-client/index.js';
import { SeededRandom, SystemClock } from '../../src/base/clock/index.js';
import { SharedInformer } from '../../src/kit/informer/index.js';
import type { Deployment } from '../../src/base/kubernetes/index.js';
import { DEPLOYMENTS } from '../../src/base/kubernetes/index.js';
import { silentLogger } from '../../src/base/logging/index.js';

/** The Deployments that are known here. */
export interface WatchedDeployments {
  list(): readonly Deployment[];
  stop(): Promise<void>;
}

/** Watches them, which a benchmark must do instead of listing them again and again: that would cost as much as what is measured. */
export async function watchDeployments(client: ApiClient): Promise<WatchedDeployments> {
  const shared = { client, clock: new SystemClock(), random: new SeededRandom(1), logger: silentLogger };
  const informer = new SharedInformer<Deployment>({ ...shared, type: DEPLOYMENTS });
  const watching = new AbortController();
  const watch = informer.run(watching.signal);
  await informer.waitForSync(watching.signal);
  return {
    list: () => informer.lister.list() as readonly Deployment[],
    stop: async () => {
      watching.abort(new Error('measured'));
      await watch;
    },
  };
}

/** As `kubectl set image` does, of a Deployment in `default` with one container, `web`. */
export async function setImage(client: ApiClient, name: string, image: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
  await client.patch(DEPLOYMENTS, { namespace: 'default', name }, { type: 'strategic', body });
}
