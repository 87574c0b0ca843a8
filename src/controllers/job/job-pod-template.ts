import type { Pod } from '@rollkeeper/machinery/kubernetes';
import { podFromTemplate, podNamePrefix, seedOf, stablePodNames } from '../shared/index.js';
import type { Slot } from './decide-pods.js';
import { isIgnored } from './failure-policy.js';
import type { ReadableJob, ReadablePod } from './job-pods.js';
import {
  COMPLETION_INDEX,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  TRACKING_FINALIZER,
  failuresOfIndex,
} from './job-pods.js';
import type { JobView } from './view-job.js';

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';

/** The pods for the slots, with unused names. */
export function podsFor(
  view: JobView,
  slots: readonly Slot[],
  isTaken: (name: string) => boolean,
): readonly Pod[] {
  const { metadata, spec } = view.job;
  if (!view.indexes) {
    const prefix = podNamePrefix(metadata.name);
    const names = stablePodNames({ prefix, seed: seedOf(view.job), count: slots.length, isTaken });
    return names.map((name) => podOf(view.job, name, prefix));
  }
  return slots.map(({ index = 0 }) => {
    const prefix = podNamePrefix(metadata.name, `-${index}`);
    const [name = ''] = stablePodNames({ prefix, seed: seedOf(view.job, index), count: 1, isTaken });
    const pod = podOf(view.job, name, prefix);
    numbered(pod, index, metadata.name);
    if (spec.backoffLimitPerIndex !== undefined)
      Object.assign(
        (pod.metadata.annotations ??= {}),
        failuresSoFar(view, view.indexes?.toReplace.get(index)),
      );
    return pod;
  });
}

function podOf(job: ReadableJob, name: string, generateName: string): Pod {
  const pod = podFromTemplate({ owner: job, template: job.spec.template, name, generateName });
  pod.metadata.finalizers = [...new Set([...(pod.metadata.finalizers ?? []), TRACKING_FINALIZER])];
  return pod;
}

/** Gives the pod and its containers their completion index. */
function numbered({ metadata, spec }: Pod, index: number, jobName: string): void {
  (metadata.labels ??= {})[COMPLETION_INDEX] = String(index);
  (metadata.annotations ??= {})[COMPLETION_INDEX] = String(index);
  spec.hostname = `${jobName}-${index}`;
  const variable = {
    name: INDEX_VARIABLE,
    valueFrom: { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } },
  };
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    container.env ??= [];
    if (!container.env.some(({ name }) => name === INDEX_VARIABLE)) container.env.push(variable);
  }
}

function failuresSoFar({ job }: JobView, replaced: ReadablePod | undefined): Record<string, string> {
  const { counted, ignored } = replaced ? failuresOfIndex(replaced) : { counted: 0, ignored: 0 };
  const adds = (isMeant: boolean): number => (replaced && isIgnored(job, replaced) === isMeant ? 1 : 0);
  const ignoredNow = ignored + adds(true);
  return {
    [INDEX_FAILURES]: String(counted + adds(false)),
    ...(ignoredNow > 0 && { [INDEX_IGNORED_FAILURES]: String(ignoredNow) }),
  };
}
