import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { LightSet } from './light-set.js';
import type { RolloutWorld, RolloutWorldOptions } from './rollout-world.js';

/** On the light API: nearly all processor time is the replicas' and their Redis'. */
export async function startLightWorld(options: RolloutWorldOptions): Promise<RolloutWorld> {
  const set = await LightSet.start(options);
  return {
    create: async (deployment) => {
      set.api.create(Deployment, deployment);
    },
    setImage: async (name, image) =>
      set.api.change<Deployment>(Deployment, { namespace: 'default', name }, ({ spec }) => {
        spec.template.spec = { containers: [{ name: 'web', image }] };
      }),
    deployments: () => set.api.all<Deployment>(Deployment),
    slowDown: (ms) => set.slowDown(ms),
    usage: async () => ({ ...(await set.usage()), servers: 0, writes: set.api.writes }),
    stop: () => set.stop(),
  };
}
