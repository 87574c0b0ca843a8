import { isEmptySelector } from '../../base/kubernetes/index.js';
import { claimReplicaSets } from './claim-replica-sets.js';
import type { PassDependencies } from './decide-pass.js';
import { decidePass, draftPass } from './decide-pass.js';
import { isEmptyPlan } from './plan.js';
import { progressCheckAfterMs } from './progress.js';
import { validateDeployment } from './validate.js';

/**
 * Whether a pass over the Deployment, as the caches show it, would write, tell or wait for anything: decides it without
 * carrying it out, which costs a tenth of a sync. Every later change asks for itself, so "no" loses nothing. A rollout
 * that goes on is always worth a sync, since its deadline has to be watched.
 */
export function needsSync(key: string, dependencies: PassDependencies): boolean {
  const deployment = dependencies.deployments.get(key);
  if (!deployment || isEmptySelector(deployment.spec.selector)) return true;
  const validation = validateDeployment(deployment);
  if (!validation.valid) return true;
  const claims = claimReplicaSets(deployment, validation.selects, dependencies.replicaSets);
  if (claims.adopt.length > 0 || claims.release.length > 0) return true;
  const draft = draftPass(deployment, claims, dependencies);
  return !isEmptyPlan(decidePass(draft, claims, dependencies)) || progressCheckAfterMs(draft) !== undefined;
}
