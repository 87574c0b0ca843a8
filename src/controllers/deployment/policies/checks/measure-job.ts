import { createHash } from 'node:crypto';
import type { ApiClient, Job as JobObject } from '@rollkeeper/runtime';
import {
  Job,
  apiStatusOf,
  isAlreadyExists,
  isConditionTrue,
  isNamespaceTerminating,
  isNotFound,
  typeMeta,
} from '@rollkeeper/runtime';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { withoutTrailing } from '@rollkeeper/machinery/text';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../../../shared/index.js';
import type { Measured } from './common/check-verdict.js';
import type { JobCheck } from './check-definition.js';
import type { CheckRun } from './check-results.js';
import type { CheckSubject } from './common/subject.js';

/** It runs, and is looked at again. */
export interface JobRuns {
  readonly job: string;
}

export interface JobParts {
  readonly client: Pick<ApiClient, 'get' | 'create'>;
  readonly signal: AbortSignal;
  readonly nowMs: number;
}

export interface JobAsked {
  readonly subject: CheckSubject;
  readonly run: CheckRun;
  readonly replicaSet: DeepReadonly<ReplicaSet>;
}

/** The length of the Deployment's name in that of the Job, whose pods have longer ones. */
const NAME_CHARS = 40;
const HASH_CHARS = 10;
/** For the Job controller to say that the deadline has passed. */
const GRACE_MS = 60_000;
const CHECK_LABEL = 'rollkeeper.dev/check';
const REVISION_LABEL = 'rollkeeper.dev/revision';

/** Looks at the Job, and creates it first where it is not there yet. */
export async function measureJob(
  check: JobCheck,
  asked: JobAsked,
  { client, nowMs, signal }: JobParts,
): Promise<Measured | JobRuns> {
  const { run, replicaSet, subject } = asked;
  const name = jobName(asked);
  const ref = { namespace: subject.namespace, name };
  try {
    const job = await client.get<JobObject>(Job, ref, { signal });
    return judge(job, check, { run, replicaSet, nowMs });
  } catch (error) {
    if (!isNotFound(error)) return refusedOr(error, signal);
  }
  if (run.job !== undefined)
    return { verdict: 'failed', message: `its Job ${name} was deleted`, isFinal: true };
  try {
    await client.create<JobObject>(Job, jobOf(check, asked, name), { signal });
  } catch (error) {
    // Created by a replica that could not say so: its state is looked at next.
    if (!isAlreadyExists(error)) return refusedOr(error, signal);
  }
  return { job: name };
}

/** The same for each revision, step and attempt, so that a process that dies in between makes no second one. */
export function jobName({ replicaSet, run, subject }: JobAsked): string {
  const facts = [replicaSet.metadata.uid, subject.revision, run.step ?? '', run.check, run.attempt];
  const hash = createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, HASH_CHARS);
  return `${withoutTrailing(subject.name.slice(0, NAME_CHARS), '-.')}-${hash}`;
}

/** A revision of a set is seen as a ReplicaSet. */
function ownerKindOf({ kind }: DeepReadonly<ReplicaSet>): string {
  return kind === 'ControllerRevision' ? kind : ReplicaSet.kind;
}

function jobOf(check: JobCheck, { replicaSet, subject }: JobAsked, name: string): JobObject {
  const { metadata = {}, spec } = check.template;
  const labels = { ...metadata.labels, [CHECK_LABEL]: subject.check, [REVISION_LABEL]: subject.revision };
  const { name: owner, uid = '' } = replicaSet.metadata;
  const deadlineSeconds = Math.ceil(check.deadlineMs / 1000);
  return {
    ...typeMeta(Job),
    metadata: {
      name,
      namespace: subject.namespace,
      labels,
      annotations: metadata.annotations,
      // Goes with the revision, and does not keep it from going.
      ownerReferences: [
        { apiVersion: apiVersionOf(ReplicaSet), kind: ownerKindOf(replicaSet), name: owner, uid },
      ],
    },
    spec: {
      ...spec,
      activeDeadlineSeconds: Math.min(spec?.activeDeadlineSeconds ?? Infinity, deadlineSeconds),
    },
  } as JobObject;
}

function judge(
  job: JobObject,
  check: JobCheck,
  { nowMs, replicaSet, run }: Pick<JobAsked, 'run' | 'replicaSet'> & { readonly nowMs: number },
): Measured | JobRuns {
  const { metadata, status } = job;
  const { name } = metadata;
  const isOurs = metadata.ownerReferences?.some(({ uid }) => uid === replicaSet.metadata.uid);
  if (!isOurs) return { verdict: 'unknown', message: `a Job ${name} that is not its own has the name` };
  if (isConditionTrue(status?.conditions, 'Complete')) return { verdict: 'passed' };
  const failed = status?.conditions?.find(({ status: value, type }) => type === 'Failed' && value === 'True');
  if (failed)
    return {
      verdict: 'failed',
      message: `Job ${name}: ${failed.message ?? failed.reason ?? 'failed'}`,
      isFinal: true,
    };
  const sinceMs = parseTimeMs(metadata.creationTimestamp) ?? parseTimeMs(run.began) ?? nowMs;
  if (nowMs < sinceMs + check.deadlineMs + GRACE_MS) return { job: name };
  return { verdict: 'failed', message: `Job ${name} is not over at its deadline`, isFinal: true };
}

/** A refusal by the API server is a measurement without a verdict; the rest is a sync that failed. */
function refusedOr(error: unknown, signal: AbortSignal): Measured {
  if (signal.aborted || apiStatusOf(error) === undefined || isNamespaceTerminating(error)) throw error;
  return { verdict: 'unknown', message: `its Job: ${errorMessage(error)}` };
}
