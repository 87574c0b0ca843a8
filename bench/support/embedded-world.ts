import { SeededRandom } from '../../src/machinery/clock/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { ChaosSet } from '../../test/chaos/set/chaos-set.js';
import { setImage, watchDeployments } from './deployments.js';
import { cpuSeconds } from './process-figures.js';
import { usageOf } from './usage.js';
import type { RolloutWorld, RolloutWorldOptions } from './rollout-world.js';

/** On everything that `rollkeeper up` starts, all of it on this machine. */
export async function startEmbeddedWorld(options: RolloutWorldOptions): Promise<RolloutWorld> {
  const random = new SeededRandom(1);
  const set = await ChaosSet.start({ ...options, random: () => random.next(), links: 'none' });
  await set.untilSettled();
  const watched = await watchDeployments(set.client);
  return {
    create: async (deployment) => void (await set.client.create(Deployment, deployment)),
    setImage: (name, image) => setImage(set.client, name, image),
    deployments: () => watched.list(),
    slowDown: (ms) => {
      for (const { process } of set.replicas) process.send({ chaos: 'latency', ms });
    },
    usage: async () => ({
      ...(await usageOf({ replicas: set.replicas, redis: set.redisServer })),
      servers: [set.apiServer, set.nodes].reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
      writes: watched.writes,
    }),
    stop: async () => {
      await watched.stop();
      await set.stop();
      set.remove();
    },
  };
}
