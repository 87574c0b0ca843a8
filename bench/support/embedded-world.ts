import { SeededRandom, SystemClock } from '../../src/clock/index.js';
import { SharedInformer } from '../../src/informer/index.js';
import type { Deployment } from '../../src/kubernetes/index.js';
import { DEPLOYMENTS } from '../../src/kubernetes/index.js';
import { silentLogger } from '../../src/logging/index.js';
import { ChaosSet } from '../../test/chaos/set/chaos-set.js';
import type { RolloutWorld, RolloutWorldOptions } from './rollout-world.js';

/** On everything that `rollkeeper up` starts, all of it on this machine. */
export async function startEmbeddedWorld(options: RolloutWorldOptions): Promise<RolloutWorld> {
  const random = new SeededRandom(1);
  const set = await ChaosSet.start({ ...options, random: () => random.next(), links: 'none' });
  // Watched, not listed again and again: that would cost as much as what is measured.
  const shared = { client: set.client, clock: new SystemClock(), random, logger: silentLogger };
  const informer = new SharedInformer<Deployment>({ ...shared, type: DEPLOYMENTS });
  const watching = new AbortController();
  const watch = informer.run(watching.signal);
  await set.untilSettled();
  await informer.waitForSync(watching.signal);
  return {
    create: async (deployment) => void (await set.client.create(DEPLOYMENTS, deployment)),
    setImage: async (name, image) => {
      const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
      await set.client.patch(DEPLOYMENTS, { namespace: 'default', name }, { type: 'strategic', body });
    },
    deployments: () => informer.lister.list() as readonly Deployment[],
    slowDown: (ms) => {
      for (const { process } of set.replicas) process.send({ chaos: 'latency', ms });
    },
    stop: async () => {
      watching.abort(new Error('measured'));
      await watch;
      await set.stop();
      set.remove();
    },
  };
}
