import { expect, it } from 'vitest';
import type { Deployment, DeploymentStatus } from '../../machinery/kubernetes/index.js';
import { aDeployment } from '../../testing/deployment-builder.js';
import { rolloutHealth, stateOfStatus } from '../../controllers/deployment/index.js';
import { aReplicaSet } from '../../testing/replicaset-harness.js';
import { countDegraded, countFailing, countPolicyReasons, countRolloutHealth } from './deployment-states.js';

const progressing = (reason: string) => [{ type: 'Progressing', status: 'True', reason }];
const through = {
  observedGeneration: 1,
  replicas: 3,
  updatedReplicas: 3,
  conditions: progressing('NewReplicaSetAvailable'),
};
const aDeploymentWith = (status: DeploymentStatus, spec: Partial<Deployment['spec']> = {}): Deployment => {
  const deployment = aDeployment({ replicas: 3 });
  return {
    ...deployment,
    metadata: { ...deployment.metadata, generation: 1 },
    spec: { ...deployment.spec, ...spec },
    status,
  };
};

it.each<{ state: string; status: DeploymentStatus; spec?: Partial<Deployment['spec']> }>([
  { state: 'complete', status: { ...through, availableReplicas: 3 } },
  { state: 'degraded', status: { ...through, availableReplicas: 2 } },
  { state: 'degraded', status: through },
  { state: 'degraded', status: { ...through, conditions: progressing('RolledBack') } },
  { state: 'progressing', status: { ...through, updatedReplicas: 1 } },
  { state: 'progressing', status: { ...through, conditions: progressing('ReplicaSetUpdated') } },
  { state: 'progressing', status: { ...through, observedGeneration: 0, availableReplicas: 3 } },
  { state: 'blocked', status: { ...through, conditions: progressing('ProgressDeadlineExceeded') } },
  { state: 'paused', status: through, spec: { paused: true } },
])('a Deployment with $status is $state', ({ spec, state, status }) => {
  const deployment = aDeploymentWith(status, spec);
  expect(rolloutHealth(stateOfStatus(deployment, 0), deployment)).toBe(state);
});

it('counts every state, also those that no Deployment is in', () => {
  const counts = countRolloutHealth([aDeploymentWith(through), aDeploymentWith(through)], 0);
  expect(Object.fromEntries(counts)).toEqual({
    complete: 0,
    progressing: 0,
    blocked: 0,
    degraded: 2,
    paused: 0,
    deleting: 0,
  });
});

it('counts what policies say, and nothing that Kubernetes says', () => {
  const unknown = (reason: string) => [{ type: 'Progressing', status: 'Unknown', reason }];
  const invalid = [{ type: 'RolloutPolicy', status: 'False', reason: 'InvalidAnnotation' }];
  const all = [
    unknown('WaitingForApproval'),
    unknown('WaitingForApproval'),
    unknown('DeploymentPaused'),
    progressing('RolledBack'),
    progressing('NewReplicaSetAvailable'),
    invalid,
  ].map((conditions) => aDeploymentWith({ ...through, conditions }));
  const counted = [...countPolicyReasons(all)];
  expect(Object.fromEntries(counted.filter(([, count]) => count > 0))).toEqual({
    WaitingForApproval: 2,
    RolledBack: 1,
    InvalidAnnotation: 1,
  });
  expect(counted).toContainEqual(['WaitingForCheck', 0]);
});

it('counts the ReplicaSets whose pods die before they are ready', () => {
  const failing = { type: 'PodFailureBackOff', status: 'True' as const, reason: 'OutOfcpu' };
  const status = { replicas: 0, conditions: [failing] };
  expect(countFailing([aReplicaSet(), { ...aReplicaSet(), status }])).toBe(1);
  expect(countFailing([])).toBe(0);
});

it('counts the Deployments that did not get their pods back in time', () => {
  const conditions = [{ type: 'Degraded', status: 'True', reason: 'AvailabilityLost' }];
  const waiting = [{ type: 'Degraded', status: 'Unknown', reason: 'AvailabilityLost' }];
  expect(countDegraded([aDeploymentWith({ conditions }), aDeploymentWith({ conditions: waiting })])).toBe(1);
});
