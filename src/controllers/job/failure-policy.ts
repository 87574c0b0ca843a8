import type { ReadableJob, ReadablePod } from './job-pods.js';

type Policy = NonNullable<ReadableJob['spec']['podFailurePolicy']>;
type Rule = NonNullable<Policy['rules']>[number];

/** The result of a Job's failure policy for a failed pod. */
interface FailureVerdict {
  /** `Count` if no rule matches. */
  readonly action: 'Count' | 'Ignore' | 'FailJob' | 'FailIndex';
  /** For `FailJob`: the reason, for people. */
  readonly message?: string;
}

/** The first matching rule decides. Source: k/k pkg/controller/job/pod_failure_policy.go. */
export function judgeFailure({ spec }: ReadableJob, pod: ReadablePod): FailureVerdict {
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const cause = causeOf(rule, pod);
    if (cause === undefined) continue;
    const action = rule.action;
    return action === 'FailJob'
      ? { action, message: `${cause} matching ${action} rule at index ${index}` }
      : { action };
  }
  return { action: 'Count' };
}

export function isIgnored(job: ReadableJob, pod: ReadablePod): boolean {
  return judgeFailure(job, pod).action === 'Ignore';
}

function causeOf({ onExitCodes, onPodConditions = [] }: Rule, { metadata, status }: ReadablePod) {
  const pod = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes) {
    const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    for (const { name, state } of containers) {
      const code = state?.terminated?.exitCode ?? 0;
      const isMeant = onExitCodes.containerName === undefined || onExitCodes.containerName === name;
      if (isMeant && code !== 0 && onExitCodes.values.includes(code) === (onExitCodes.operator === 'In'))
        return `Container ${name} for pod ${pod} failed with exit code ${code}`;
    }
    return undefined;
  }
  const met = onPodConditions.find(({ status: wanted = 'True', type }) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === wanted),
  );
  return met && `Pod ${pod} has condition ${met.type}`;
}
