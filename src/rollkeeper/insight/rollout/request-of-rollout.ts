import type { ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import {
  findCondition,
  isControlledBy,
  qualifiedResource,
  semanticEqual,
} from '@rollkeeper/machinery/kubernetes';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import { isConflict, isForbidden } from '@rollkeeper/client/api-client';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import {
  ABORT,
  APPROVE,
  CHECK_FAILED,
  CHECK_NOT_POSSIBLE,
  CHECK_UNKNOWN,
  GOOD_SINCE,
  POLICY_CONDITION,
  RETRY,
  WAITING_FOR_APPROVAL,
  completed,
  equalIgnoringHash,
  readFailures,
  templateHashOf,
} from '@rollkeeper/controllers/deployment';
import type { RolloutTarget } from './rollout-verbs.js';
import { replicaSetsOf } from './rollout-verbs.js';
import { findSetTarget, isSetTarget } from './set-target.js';

/** The requests of a person to a rollout that looks after itself. */
export type RolloutRequest = 'promote' | 'abort' | 'retry';

const ANNOTATIONS: Readonly<Record<RolloutRequest, string>> = {
  promote: APPROVE,
  abort: ABORT,
  retry: RETRY,
};

/** Writes of the controller that may come in between. */
const MOST_ATTEMPTS = 10;

/**
 * Asks by the annotation that the controller removes again once it has done so.
 * @param by the requester, as it is recorded
 * @returns what was asked, for people
 * @throws UnsupportedError where there is nothing that the request could be about
 */
export async function requestOfRollout(
  target: RolloutTarget,
  request: RolloutRequest,
  by: string,
): Promise<string> {
  const { client, deployment, type } = target;
  const { name } = deployment.metadata;
  let seen = deployment;
  for (let attempt = 1; ; attempt++) {
    const problem =
      problemOf(seen, request) ?? (await problemOfAbort({ ...target, deployment: seen }, request));
    if (problem !== undefined) throw new UnsupportedError(`${name} ${problem}`);
    // The version of the rollout that was looked at: an approval of another one, a moment later, would be a mistake.
    const { resourceVersion } = seen.metadata;
    const metadata = { resourceVersion, annotations: { [ANNOTATIONS[request]]: by } };
    try {
      await client.patch(type, deployment.metadata, { type: 'merge', body: { metadata } });
      break;
    } catch (error) {
      if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
    }
    // Most often the controller has counted its pods meanwhile.
    seen = isSetTarget(target)
      ? (await findSetTarget(client, type, deployment.metadata)).deployment
      : await client.get<Deployment>(type, deployment.metadata);
    if (!isSameRollout(deployment, seen))
      throw new UnsupportedError(`${name} has changed meanwhile: look at it again`);
  }
  const done = { promote: 'approved', abort: 'asked to go back', retry: 'asked to try again' }[request];
  return `${qualifiedResource(type)}/${name} ${done} by ${by}`;
}

/** A good revision that runs alone is no rollout. Where ReplicaSets may not be read, the controller alone decides. */
async function problemOfAbort(target: RolloutTarget, request: RolloutRequest): Promise<string | undefined> {
  if (request !== 'abort') return undefined;
  const { deployment } = target;
  const listed = await replicaSetsOf(target).catch((error: unknown) => {
    if (isForbidden(error)) return undefined;
    throw error;
  });
  if (!listed) return undefined;
  const sets = listed.filter((set) => isControlledBy(set, deployment));
  const isGood = ({ metadata }: ReplicaSet): boolean => metadata.annotations?.[GOOD_SINCE] !== undefined;
  const { template } = completed(deployment).spec;
  const asked = sets.find((set) => equalIgnoringHash(set.spec.template ?? {}, template));
  const others = sets.filter((set) => set !== asked);
  const isAlone = others.every(({ spec }) => (spec.replicas ?? 1) === 0);
  return asked && isGood(asked) && isAlone
    ? 'has no rollout that could be aborted: what runs is good already. To go back, use rollkeeper rollout undo'
    : undefined;
}

/** Whether what a person decided about is still there: the template, and the step at which it waits. */
function isSameRollout(before: Deployment, after: Deployment): boolean {
  const waitsAt = ({ status }: Deployment): string | undefined => {
    const progressing = findCondition(status?.conditions, 'Progressing');
    if (progressing?.reason === WAITING_FOR_APPROVAL) return progressing.message;
    const condition = policyCondition({ status });
    return CHECK_REASONS.has(condition?.reason ?? '') ? condition?.message : undefined;
  };
  return (
    before.metadata.uid === after.metadata.uid &&
    semanticEqual(before.spec.template, after.spec.template) &&
    waitsAt(before) === waitsAt(after)
  );
}

/**
 * Whether a retry would roll out or measure something now: the version that is asked for has failed, or it is what a
 * failed one was rolled back to. After another version was applied, a retry only allows the failed one to be applied again.
 */
export function hasSomethingToRetry(deployment: DeepReadonly<Deployment>): boolean {
  if (policyCondition(deployment)?.reason === CHECK_FAILED) return true;
  const current = templateHashOf(deployment);
  const failures = readFailures(deployment.metadata.annotations ?? {});
  return failures[0]?.to?.template === current || failures.some(({ template }) => template === current);
}

/** A person may continue without a check that will not simply pass. */
const CHECK_REASONS: ReadonlySet<string> = new Set([CHECK_FAILED, CHECK_UNKNOWN, CHECK_NOT_POSSIBLE]);

function policyCondition({
  status,
}: Pick<DeepReadonly<Deployment>, 'status'>): DeepReadonly<Condition> | undefined {
  return findCondition(status?.conditions, POLICY_CONDITION);
}

type Condition = NonNullable<NonNullable<Deployment['status']>['conditions']>[number];

function problemOf({ metadata, spec, status }: Deployment, request: RolloutRequest): string | undefined {
  if (spec.paused) return 'is paused: resume it first';
  const progressing = findCondition(status?.conditions, 'Progressing');
  const isAtCheck = CHECK_REASONS.has(policyCondition({ status })?.reason ?? '');
  if (request === 'promote' && progressing?.reason !== WAITING_FOR_APPROVAL && !isAtCheck)
    return `does not wait for an approval${progressing?.message ? `: ${progressing.message}` : ''}`;
  const hasFailedCheck = policyCondition({ status })?.reason === CHECK_FAILED;
  if (request === 'retry' && !hasFailedCheck && readFailures(metadata.annotations ?? {}).length === 0)
    return 'has no template that failed';
  return undefined;
}
