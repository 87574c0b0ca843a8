import type { Pod } from '../../machinery/kubernetes/index.js';
import { newControllerRef } from '../../machinery/kubernetes/index.js';
import type { Job } from '../../runtime/index.js';
import { aPod } from '../../testing/pod-builder.js';
import type { PodTraits } from '../../testing/pod-builder.js';

/** A Job `default/once` of one completion, with the API server's defaults. */
export function aJob(spec: Partial<Job['spec']> = {}, status: Job['status'] = {}): Job {
  const completions = spec.completionMode === 'Indexed' || !('completions' in spec) ? { completions: 1 } : {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once', namespace: 'default', uid: 'uid-once' },
    spec: {
      ...completions,
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      selector: { matchLabels: { job: 'once' } },
      template: {
        metadata: { labels: { job: 'once' } },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
      },
      ...spec,
    },
    status,
  };
}

interface JobPodTraits extends PodTraits {
  readonly index?: number;
  /** Whether it still has the tracking finalizer. @default true */
  readonly tracked?: boolean;
  readonly exitCode?: number;
  /** When its container ended. */
  readonly endedAt?: string;
  readonly indexFailures?: number;
}

/** A pod of {@link aJob}. */
export function aJobPod({ tracked = true, ...traits }: JobPodTraits = {}): Pod {
  const { endedAt, exitCode, index, indexFailures } = traits;
  const pod = aPod({ labels: { job: 'once' }, ...traits });
  pod.metadata.ownerReferences = [newControllerRef(aJob())];
  if (tracked) pod.metadata.finalizers = ['batch.kubernetes.io/job-tracking'];
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    ...(index !== undefined && { 'batch.kubernetes.io/job-completion-index': String(index) }),
    ...(indexFailures !== undefined && {
      'batch.kubernetes.io/job-index-failure-count': String(indexFailures),
    }),
  };
  if (endedAt !== undefined || exitCode !== undefined)
    (pod.status ??= {}).containerStatuses = [
      {
        ...{ name: 'main', image: 'busybox', imageID: '', ready: false, restartCount: 0 },
        state: { terminated: { exitCode: exitCode ?? 0, finishedAt: endedAt } },
      },
    ];
  return pod;
}
