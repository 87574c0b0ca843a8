import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

describe.skipIf(!anyKubectl())(
  'a Deployment that is scaled in the middle of its rollout, under autoscaling: floor',
  () => {
    let lab: PolicyUp;

    beforeAll(async () => {
      lab = await PolicyUp.start();
      const web = aDeployment({ name: 'web', replicas: 5 });
      web.metadata.annotations = {
        'rollkeeper.dev/autoscaling': 'floor',
        'rollkeeper.dev/steps': '20%; approve',
      };
      await lab.client.create(Deployment, web);
      expect((await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')).code).toBe(0);
    });

    afterAll(() => lab.stop());

    it('keeps the size of its beginning, also under another leader, and follows when the rollout is over [kubernetes#98914]', async () => {
      await lab.kubectl('set', 'image', 'deployment/web', 'web=web:2');
      await lab.sized({ 'web:1': 4, 'web:2': 1 });
      await lab.says('WaitingForApproval');
      await lab.kubectl('scale', 'deployment/web', '--replicas=2');
      await lab.killLeader();
      await lab.kubectl('scale', 'deployment/web', '--replicas=10');
      await lab.sized({ 'web:1': 8, 'web:2': 2 });
      await lab.kubectl('scale', 'deployment/web', '--replicas=2');
      await lab.sized({ 'web:1': 4, 'web:2': 1 });
      expect((await lab.deployment()).spec.replicas).toBe(2);
      await lab.kubectl('annotate', 'deployment/web', 'rollkeeper.dev/approve=jane');
      await lab.sized({ 'web:2': 2 });
      const events = await lab.kubectl('get', 'events', '--field-selector', 'reason=SizeHeld');
      expect(events.stdout).toContain('until the rollout is over, 5 count');
    });
  },
);
