import { counted } from '@rollkeeper/machinery/text';
import { Job } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Event, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '@rollkeeper/controllers/shared';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import { creationFindings, deletionFindings, findingsOfPods, podsOf, warningsAbout } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';

type ReadableJob = DeepReadonly<Job>;

/** Jobs: how it ended, or what its pods wait for. */
export const jobDiagnosis: KindDiagnosis<Job> = {
  type: Job,
  aliases: [],
  needs: (namespace) => [...inNamespace([Pod, Event], namespace), { type: Node }],
  judge(job, snapshot, nowMs): Verdict {
    const { completions, suspend } = job.spec;
    const { active = 0, succeeded = 0 } = job.status ?? {};
    const done = `${succeeded}${completions === undefined ? '' : ` of ${completions}`} completed`;
    const deletion = deletionFindings(job, 'its pods');
    const good = { state: 'progressing', sentence: `${done}, ${counted(active, 'pod')} running` } as const;
    if (deletion.length > 0) return { findings: deletion, good, bad: 'deleting' };
    if (endOf(job, 'Complete')) return { findings: [], good: { state: 'complete', sentence: `${done}` } };
    const failed = failureOf(job);
    if (failed) return { findings: [failed], good, progress: done };
    if (suspend)
      return {
        findings: [],
        good: { state: 'paused', sentence: `it is suspended; ${done}` },
      };
    return { findings: runningFindings(job, snapshot, nowMs), good, progress: done };
  },
};

function endOf({ status }: ReadableJob, type: string) {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
}

/** The remedies for each reason of a failed Job. */
const REMEDIES: Readonly<Record<string, readonly string[]>> = {
  BackoffLimitExceeded: [
    'find out why its pods failed with kubectl logs, then recreate the Job',
    'or set a larger spec.backoffLimit, if failures are expected',
  ],
  DeadlineExceeded: ['set a larger spec.activeDeadlineSeconds or reduce the work, then recreate the Job'],
  PodFailurePolicy: [
    'correct the failure that the message names (pod failure policy), then recreate the Job',
  ],
  FailedIndexes: ['see the failed indexes in status.failedIndexes, then create a Job for those'],
  MaxFailedIndexesExceeded: ['see the failed indexes in status.failedIndexes, then recreate the Job'],
};

function failureOf(job: ReadableJob): DiagnosisFinding | undefined {
  const condition = endOf(job, 'Failed') ?? endOf(job, 'FailureTarget');
  if (!condition) return undefined;
  const { lastTransitionTime: since, message = '', reason = 'Failed' } = condition;
  return {
    cause: 'job-failed',
    severity: 'blocked',
    summary: `it failed: ${reason}${message === '' ? '' : ` (${message})`}, after ${counted(job.status?.failed ?? 0, 'failed pod')}`,
    ...(since !== undefined && { since }),
    unblockedBy: REMEDIES[reason] ?? ['see its pods with kubectl describe job, then recreate it'],
  };
}

function runningFindings(job: ReadableJob, snapshot: Snapshot, nowMs: number): DiagnosisFinding[] {
  const pods = podsOf(snapshot, job).filter(({ status }) => status?.phase !== 'Failed');
  const { active = 0 } = job.status ?? {};
  return [
    ...(active === 0 ? creationFindings(warningsAbout(snapshot, job, nowMs)) : []),
    ...findingsOfPods(pods, { snapshot, nowMs }).map(withoutUndo),
    ...retryFinding(job),
    ...deadlineFinding(job, nowMs),
  ];
}

/** There is no revision to go back to. */
function withoutUndo(finding: DiagnosisFinding): DiagnosisFinding {
  return { ...finding, unblockedBy: finding.unblockedBy.filter((way) => !way.includes('rollout undo')) };
}

function retryFinding({ spec, status }: ReadableJob): DiagnosisFinding[] {
  const { failed = 0 } = status ?? {};
  const limit = spec.backoffLimit ?? 6;
  if (failed === 0) return [];
  return [
    {
      cause: 'job-retrying',
      severity: 'waits',
      summary: `${counted(failed, 'pod')} failed; the Job fails after ${limit + 1} (backoffLimit ${limit}), and the back-off doubles each time`,
      unblockedBy: ['correct the cause: see kubectl logs of the failed pods'],
    },
  ];
}

function deadlineFinding({ spec, status }: ReadableJob, nowMs: number): DiagnosisFinding[] {
  const startedMs = parseTimeMs(status?.startTime);
  const seconds = spec.activeDeadlineSeconds;
  if (startedMs === undefined || seconds === undefined) return [];
  const left = Math.ceil((startedMs + Number(seconds) * 1000 - nowMs) / 1000);
  return [
    {
      cause: 'job-deadline',
      severity: 'note',
      summary: `it is terminated in ${Math.max(0, left)} s (activeDeadlineSeconds ${seconds})`,
      unblockedBy: [],
    },
  ];
}
