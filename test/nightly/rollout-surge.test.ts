import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, isPodReady } from '../../src/machinery/kubernetes/index.js';
import { RolloutHistory } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

describe.skipIf(!anyKubectl())(
  'a surge that does not fit, in a cluster with room for the old pods alone',
  () => {
    let lab: PolicyUp;
    let history: RolloutHistory;

    beforeAll(async () => {
      lab = await PolicyUp.start('--nodes', '2', '--', '--respect-disruption-budgets');
      const web = aDeployment({
        name: 'web',
        replicas: 2,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      });
      web.metadata.annotations = { 'rollkeeper.dev/surge': 'if-it-fits' };
      // One pod takes the port of each node: as with a GPU, a third pod fits nowhere.
      web.spec.template.spec!.containers[0]!.ports = [{ containerPort: 80, hostPort: 8080 }];
      await lab.client.create(Deployment, web);
      expect((await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')).code).toBe(0);
      history = new RolloutHistory(lab.client, 'default');
      await history.start();
    });

    afterAll(async () => {
      await history.stop();
      await lab.stop();
    });

    /** The fewest ready pods that were there at any time. */
    const fewestReady = (): number => {
      const ready = new Map<string, boolean>();
      let fewest = Infinity;
      for (const { deleted, kind, object } of history.events()) {
        if (kind !== 'Pod') continue;
        const isServing = isPodReady(object as never) && object.metadata.deletionTimestamp === undefined;
        ready.set(object.metadata.name, !deleted && isServing);
        if (ready.size >= 2) fewest = Math.min(fewest, [...ready.values()].filter(Boolean).length);
      }
      return fewest;
    };

    it('takes one old pod at a time, also under another leader, and says why [kubernetes#64689]', async () => {
      await lab.kubectl('set', 'image', 'deployment/web', 'web=web:2');
      const isRefused = async (): Promise<boolean> =>
        (await lab.pods()).some(({ status }) =>
          status?.conditions?.some(
            ({ reason, type }) => type === 'PodScheduled' && reason === 'Unschedulable',
          ),
        );
      await waitFor(isRefused, { what: 'the new pod to be refused', timeoutMs: 30_000 });
      const explained = async (): Promise<string> =>
        (await lab.rollkeeper('explain', 'deployment/web')).stdout;
      expect(await explained()).toContain('an old pod goes first if that lasts for 30 s');
      await lab.killLeader();
      const rolledOut = await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=240s');
      expect(rolledOut.code, rolledOut.stdout).toBe(0);
      expect(fewestReady()).toBe(1);
      const events = await lab.kubectl('get', 'events', '--field-selector', 'reason=SurgeDoesNotFit');
      expect(events.stdout).toContain('free ports');
    });
  },
);
