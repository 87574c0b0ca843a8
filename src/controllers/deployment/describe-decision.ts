import type { Decision } from '@rollkeeper/runtime';
import { sumAvailable, totalReplicas } from './kubernetes/replica-set-draft.js';
import type { RolloutDraft } from './kubernetes/draft.js';
import { OWN_RULES } from './kubernetes/rollout-rules.js';
import { maxSurge, maxTotalReplicas, maxUnavailable, minAvailable } from './kubernetes/limits.js';
import { requestWrites, type DeploymentPlan } from './pass-plan.js';
import type { ReplicaSetWrite } from './kubernetes/plan.js';
import type { PolicyOutcome } from './policies/policies.js';

/** The decision of a pass and its inputs, for people. */
export function describeDecision(
  draft: RolloutDraft,
  plan: DeploymentPlan,
  policy: PolicyOutcome | undefined,
): Decision {
  const { spec } = draft;
  const actions = policy?.actions ?? [];
  const writes = plan.replicaSetWrites.length + requestWrites(plan);
  const changes = writes > 0 || plan.deployment !== undefined || actions.length > 0;
  return {
    branch: draft.branch ?? 'rolling-update',
    summary: changes ? summaryOf(plan, actions) : '',
    changes,
    inputs: {
      'rollkeeper.replicas': draft.replicas,
      'rollkeeper.max_surge': maxSurge(spec),
      'rollkeeper.max_unavailable': maxUnavailable(spec),
      'rollkeeper.max_total': maxTotalReplicas(spec),
      'rollkeeper.min_available': minAvailable(spec),
      'rollkeeper.observed.total': draft.replicaSets.reduce(
        (sum, { observed }) => sum + (observed ? (observed.spec.replicas ?? 1) : 0),
        0,
      ),
      'rollkeeper.observed.available': sumAvailable(draft.living, OWN_RULES),
      'rollkeeper.wanted.total': totalReplicas(draft.living),
      ...(policy?.standing ? { 'rollkeeper.policy': policy.standing.code } : {}),
      ...checksOf(policy),
      ...(plan.status ? { 'rollkeeper.status_write': true } : {}),
    },
  };
}

/** The checks that are measured with the pass. */
function checksOf(policy: PolicyOutcome | undefined): Record<string, string> {
  const due = policy?.checks?.due ?? [];
  return due.length === 0 ? {} : { 'rollkeeper.checks.measured': due.map(({ run }) => run.check).join(',') };
}

function summaryOf(plan: DeploymentPlan, actions: readonly string[]): string {
  const { copies, deployment, madeServices, replicaSetWrites, routeWrites, serviceWrites } = plan;
  const selectors = serviceWrites.map(({ name }) => `write the selector of Service ${name}`);
  const made = madeServices.map(({ metadata }) => `create Service ${metadata.name}`);
  const weights = routeWrites.map(({ kind, name }) => `write ${kind}/${name}`);
  const copied = copies.map(({ name, source }) => `copy ${source} to ${name}`);
  const parts = [
    ...actions,
    ...copied,
    ...replicaSetWrites.map(describeWrite),
    ...made,
    ...selectors,
    ...weights,
  ];
  if (deployment) parts.push('write the Deployment itself');
  return parts.join('; ');
}

function describeWrite({ note, object, verb }: ReplicaSetWrite): string {
  const { name } = object.metadata;
  const size = object.spec.replicas ?? 1;
  if (verb === 'create') return `create ${name} with ${size}`;
  if (verb === 'delete') return `delete ${name}`;
  return note ? note.message : `annotate ${name}`;
}
