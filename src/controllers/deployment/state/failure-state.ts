import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { templateHashOf } from '../kubernetes/deployment-api.js';
import { replicasOf } from '../kubernetes/limits.js';
import { workloadOf } from '../kubernetes/workload.js';
import type { FailedTemplate } from '../policies/common/failed-templates.js';
import { readFailures } from '../policies/common/failed-templates.js';
import { RETRY } from '../policies/common/names.js';
import { failureSentence } from '../policies/failure/tell-failure.js';
import { ROLLED_BACK } from '../policies/common/tell.js';
import { PROGRESS_DEADLINE_EXCEEDED } from '../kubernetes/reasons.js';
import { kubectlStatus } from './kubectl-status.js';
import type { RolloutState } from './rollout-view.js';

/** The state of a rollout that failed; `undefined` if it has not. */
export function failureState(deployment: DeepReadonly<Deployment>): RolloutState | undefined {
  const { metadata, status } = deployment;
  const { resource, versionKind } = workloadOf(deployment);
  const name = `${resource} "${metadata.name}"`;
  const { message = '', reason } = findCondition(status?.conditions, 'Progressing') ?? {};
  const [newest] = failuresOf(deployment);
  if (reason === ROLLED_BACK) return rolledBack(name, message, newest);
  if (reason === PROGRESS_DEADLINE_EXCEEDED) return exceeded(deployment, message);
  if (!newest) return undefined;
  // By the template, as the policies do: a ReplicaSet keeps its name when its pods are resized in place.
  const current = templateHashOf(deployment);
  const isComplete = kubectlStatus(deployment).state === 'complete';
  if (newest.template === current && newest.stopped && !isComplete) {
    const failed = `${failureSentence(newest, versionKind)}. It is what an earlier failure went back to, so it is left as it is`;
    return { phase: 'failed', message: `${name} failed. ${failed}`, failure: newest.cause };
  }
  if (newest.to?.template !== current) return undefined;
  return goingBack(deployment, newest, newest.to.revision, isComplete);
}

/**
 * The state if the controller has not seen the newest change of the Deployment, and that change is a failure that was recorded or
 * acted on. Other changes are people's, and say nothing yet.
 */
export function unseenFailure(deployment: DeepReadonly<Deployment>): RolloutState | undefined {
  const { annotations } = deployment.metadata;
  const [newest] = failuresOf(deployment);
  if (!newest?.to) return undefined;
  const current = templateHashOf(deployment);
  const isAskedFor = newest.template === current && annotations?.[RETRY] === undefined;
  if (!isAskedFor && newest.to.template !== current) return undefined;
  return goingBack(deployment, newest, newest.to.revision, false);
}

function failuresOf({ metadata }: DeepReadonly<Deployment>): readonly FailedTemplate[] {
  return readFailures(metadata.annotations ?? {});
}

function rolledBack(name: string, message: string, newest: FailedTemplate | undefined): RolloutState {
  return { phase: 'rolled-back', message: `${name} was rolled back. ${message}`, failure: newest?.cause };
}

/** The deadline itself has passed, or a policy says which revision runs in place of the failed one. */
function exceeded(deployment: DeepReadonly<Deployment>, message: string): RolloutState {
  const { metadata, spec, status = {} } = deployment;
  const { resource, versionKind } = workloadOf(deployment);
  const name = `${resource} "${metadata.name}"`;
  const told = failuresOf(deployment).find(
    (failure) => failure.to && message.includes(failureSentence(failure, versionKind)),
  );
  if (!told) return { phase: 'failed', message: `${name} exceeded its progress deadline` };
  const held = `${ROLLED_BACK}: `;
  if (!message.startsWith(held)) return { phase: 'rolling-back', message, failure: told.cause };
  const wanted = replicasOf(spec);
  const runs = (status.availableReplicas ?? 0) >= wanted && (status.replicas ?? 0) === wanted;
  const words = message.slice(held.length);
  return runs
    ? rolledBack(name, words, told)
    : { phase: 'rolling-back', message: words, failure: told.cause };
}

/** The template is restored already, and the condition does not say yet that its pods are. */
function goingBack(
  deployment: DeepReadonly<Deployment>,
  failure: FailedTemplate,
  revision: string,
  isComplete: boolean,
): RolloutState {
  const { resource, versionKind } = workloadOf(deployment);
  const name = `${resource} "${deployment.metadata.name}"`;
  const sentence = failureSentence(failure, versionKind);
  if (isComplete) return rolledBack(name, `${sentence}. Revision ${revision} runs again.`, failure);
  const message = `${sentence}. Going back to revision ${revision}.`;
  return { phase: 'rolling-back', message, failure: failure.cause };
}
