import { describe, expect, it } from 'vitest';
import { ready, stuckOn } from '../testing/stuck-rollout.js';
import { explainDeployment } from './explain-deployment.js';
import type { ExplainInput } from './explain-input.js';

const P = 'rollkeeper.dev/';

/** In the middle of a rollout to `app:2`, with annotations on the Deployment and on its Namespace. */
function under(annotations: Record<string, string>, more: Partial<ExplainInput> = {}): ExplainInput {
  const input = stuckOn(ready());
  const { deployment } = input;
  const metadata = {
    ...deployment.metadata,
    annotations: { ...deployment.metadata.annotations, ...annotations },
  };
  return { ...input, deployment: { ...deployment, metadata }, ...more };
}

describe('what the policies of a rollout wait for', () => {
  it('is a finding with what would end it, for annotations that cannot be understood', () => {
    const explanation = explainDeployment(under({ [`${P}steps`]: 'ten' }));
    const finding = explanation.waitsFor.find(({ cause }) => cause === 'invalid-policy');
    expect(finding).toMatchObject({ severity: 'note' });
    expect(finding?.summary).toContain('rollkeeper.dev/steps: "ten"');
  });

  it('repeats what the controller said of a Service, which no explanation reads', () => {
    const annotations = { [`${P}strategy`]: 'blue-green', [`${P}active-service`]: 'web' };
    const input = under(annotations);
    const { spec, status } = input.deployment;
    const message = 'web-new is whole; Service "web" waits for an approval to select it';
    const waiting = {
      type: 'Progressing',
      status: 'Unknown',
      reason: 'WaitingForApproval',
      message,
    } as const;
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '100%' } } as const;
    const deployment = {
      ...input.deployment,
      spec: { ...spec, strategy },
      status: { ...status, conditions: [waiting] },
    };
    const { replicaSets, waitsFor } = explainDeployment({ ...input, deployment });
    const finding = waitsFor.find(({ cause }) => cause === 'waits-for-approval');
    expect(finding?.summary).toBe(message);
    const old = replicaSets.find(({ role }) => role === 'old');
    expect(old?.nextSize).toBe(old?.size);
  });

  it('names the zone whose old pods wait for new pods', () => {
    const input = under({ [`${P}zones`]: 'one-by-one' });
    const replicaSets = input.replicaSets.map((set) => {
      const size = set.metadata.name.includes('old') ? 3 : 1;
      const available = size === 3 ? 3 : 0;
      const status = {
        ...set.status,
        replicas: size,
        readyReplicas: available,
        availableReplicas: available,
      };
      return { ...set, spec: { ...set.spec, replicas: size }, status };
    });
    const nodeLabels = { availability: 'known', valueOf: () => 'b' } as const;
    const finding = (more: Partial<ExplainInput>) =>
      explainDeployment({ ...input, replicaSets, ...more }).waitsFor.find(
        ({ cause }) => cause === 'waits-for-zone',
      );
    expect(finding({ nodeLabels })?.summary).toMatch(/^old pods in zone b go when the new pods in place of/);
    expect(finding({}), 'where nodes are not known').toBeUndefined();
  });

  it('names what holds a version that has not begun, by a default of the Namespace as well', () => {
    const before = under({}, { namespaceAnnotations: { [`${P}freeze`]: 'inventory' } });
    const replicaSets = before.replicaSets.filter(({ metadata }) => metadata.name.includes('old'));
    const [old] = replicaSets;
    const annotations = {
      'deployment.kubernetes.io/revision':
        old?.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? '',
    };
    const deployment = {
      ...before.deployment,
      metadata: { ...before.deployment.metadata, annotations },
    };
    const explanation = explainDeployment({ ...before, deployment, replicaSets, pods: [] });
    const finding = explanation.waitsFor.find(({ cause }) => cause === 'rollout-held');
    expect(finding?.summary).toBe('the rollout is held by a freeze: inventory');
    expect(finding?.severity).toBe('waits');
    expect(explanation.deadline).not.toHaveProperty('remainingSeconds');
  });
});
