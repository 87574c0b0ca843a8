import { describe, expect, it } from 'vitest';
import { aDeployment } from '../../testing/deployment-builder.js';
import { aPod } from '../../testing/pod-builder.js';
import { decideReplacement } from './decide-replacement.js';

const NAME = 'rollkeeper.dev/on-eviction';
const ready = aPod({ readySince: '2026-01-01T00:00:00Z' });

function web({
  annotations = { [NAME]: 'surge' },
  spec = {},
  status = {},
}: {
  annotations?: Record<string, string>;
  spec?: Partial<ReturnType<typeof aDeployment>['spec']>;
  status?: object;
} = {}) {
  const deployment = aDeployment({ annotations });
  return {
    ...deployment,
    spec: { ...deployment.spec, ...spec },
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, ...status },
  };
}

describe('the eviction of a pod of a Deployment that surges', () => {
  it.each([
    { name: 'waits for another pod', deployment: web(), expected: 'replaced' },
    {
      name: 'is the budgets’ alone without the policy',
      deployment: web({ annotations: {} }),
      expected: 'none',
    },
    { name: 'is noted in a rollout', deployment: web({ status: { updatedReplicas: 0 } }), expected: 'noted' },
    {
      name: 'is noted before its controller has seen a change',
      deployment: web({ status: { observedGeneration: 0 } }),
      expected: 'noted',
    },
    {
      name: 'does not wait while it is paused',
      deployment: web({ spec: { paused: true } }),
      expected: 'none',
    },
    { name: 'does not wait at size 0', deployment: web({ spec: { replicas: 0 } }), expected: 'none' },
    {
      name: 'does not wait for a Recreate',
      deployment: web({ spec: { strategy: { type: 'Recreate' } } }),
      expected: 'none',
    },
    {
      name: 'does not wait without a surge',
      deployment: web({ spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '0%' } } } }),
      expected: 'none',
    },
  ])('$name', ({ deployment, expected }) => {
    expect(decideReplacement(ready, deployment)).toBe(expected);
  });

  it('takes the policy of the Namespace, unless the Deployment has its own', () => {
    expect(decideReplacement(ready, web({ annotations: {} }), { [NAME]: 'surge' })).toBe('replaced');
    expect(decideReplacement(ready, web({ annotations: { [NAME]: '' } }), { [NAME]: 'surge' })).toBe('none');
  });

  it('holds only pods that serve', () => {
    expect(decideReplacement(aPod({ phase: 'Pending' }), web())).toBe('none');
    expect(decideReplacement(aPod({ phase: 'Running' }), web())).toBe('noted');
  });
});
