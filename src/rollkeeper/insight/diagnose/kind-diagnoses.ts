import { apiServiceDiagnosis } from './kinds/api-service.js';
import { autoscalerDiagnosis } from './kinds/autoscaler.js';
import { claimDiagnosis } from './kinds/claim.js';
import { cronJobDiagnosis } from './kinds/cronjob.js';
import { definitionDiagnosis } from './kinds/custom-resource-definition.js';
import { daemonSetDiagnosis } from './kinds/daemonset.js';
import { budgetDiagnosis } from './kinds/disruption-budget.js';
import { jobDiagnosis } from './kinds/job.js';
import { namespaceDiagnosis } from './kinds/namespace.js';
import { nodeDiagnosis } from './kinds/node.js';
import { podDiagnosis } from './kinds/pod.js';
import { replicaSetDiagnosis } from './kinds/replicaset.js';
import { serviceDiagnosis } from './kinds/service.js';
import { statefulSetDiagnosis } from './kinds/statefulset.js';
import { mutatingWebhookDiagnosis, validatingWebhookDiagnosis } from './kinds/webhook-configuration.js';
import type { KindDiagnosis } from './kind-diagnosis.js';

/** Every kind that can be diagnosed, besides Deployments; those of the cluster first, as they explain others. */
export const KIND_DIAGNOSES: readonly KindDiagnosis[] = [
  nodeDiagnosis,
  apiServiceDiagnosis,
  definitionDiagnosis,
  validatingWebhookDiagnosis,
  mutatingWebhookDiagnosis,
  namespaceDiagnosis,
  budgetDiagnosis,
  autoscalerDiagnosis,
  statefulSetDiagnosis,
  daemonSetDiagnosis,
  jobDiagnosis,
  cronJobDiagnosis,
  replicaSetDiagnosis,
  claimDiagnosis,
  serviceDiagnosis,
  podDiagnosis,
];

/** By kind, plural, singular, alias, or `RESOURCE.GROUP`, as kubectl names kinds. Undefined: none of these. */
export function kindNamed(word: string): KindDiagnosis | undefined {
  const wanted = word.toLowerCase();
  return KIND_DIAGNOSES.find(({ aliases, type }) => {
    const { group, kind, resource, version } = type;
    const names = [resource, kind.toLowerCase(), ...aliases];
    const qualified = [`${resource}.${group}`, `${resource}.${version}.${group}`];
    return [...names, ...(group === '' ? [] : qualified)].includes(wanted);
  });
}
