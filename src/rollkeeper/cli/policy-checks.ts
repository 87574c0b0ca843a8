import type { ObjectCheck } from '@rollkeeper/apiserver';
import {
  deploymentPolicyProblems,
  namespacePolicyProblems,
} from '@rollkeeper/controllers/deployment/policy-problems';
import {
  Deployment,
  Namespace,
  RollkeeperDeployment,
  objectOfKind,
  qualifiedResource,
} from '@rollkeeper/machinery/kubernetes';

/** The values of `--invalid-policies`. */
export type InvalidPolicies = 'warn' | 'refuse';

/** Checks the rollout policies of Deployments of both APIs, and the defaults of Namespaces (docs/ROLLOUTS.md). */
export function policyChecks(action: InvalidPolicies): readonly ObjectCheck[] {
  return [
    ...[Deployment, RollkeeperDeployment].map((type): ObjectCheck => ({
      resource: qualifiedResource(type),
      action,
      consequence: 'no new version begins until this is corrected',
      problemsOf: (object, namespace) =>
        deploymentPolicyProblems(objectOfKind<Deployment>(object), namespace?.metadata.annotations),
    })),
    {
      resource: qualifiedResource(Namespace),
      action,
      consequence: 'no new version of its Deployments begins until this is corrected',
      problemsOf: ({ metadata }) => namespacePolicyProblems(metadata.annotations),
    },
  ];
}
