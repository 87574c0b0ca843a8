/**
 * The verdict of a plug-in on a pod, in kube-scheduler's terms (`framework.Code`).
 * - `Unschedulable`: refused; evicting other pods might help.
 * - `UnschedulableAndUnresolvable`: refused; evicting other pods cannot help.
 * - `Wait`: a permit plug-in has not decided yet.
 * - `Skip`: the plug-in has no verdict on this pod.
 * - `Pending`: not refused because of the cluster; the plug-in waits for something that is under way.
 * - `Error`: something failed; the pod is retried with backoff.
 */
export type StatusCode =
  'Success' | 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Wait' | 'Skip' | 'Pending' | 'Error';

/** The answer of a plug-in that does not simply agree. `undefined` in place of a status is success. */
export interface Status {
  readonly code: StatusCode;
  /** One line each, as the PodScheduled condition counts them. */
  readonly reasons: readonly string[];
  /** The plug-in that returned it. Set by the framework. */
  readonly plugin?: string;
}

/** A refusal that other pods' eviction might undo. */
export function unschedulable(...reasons: readonly string[]): Status {
  return { code: 'Unschedulable', reasons };
}

/** A refusal that no eviction undoes. */
export function unresolvable(...reasons: readonly string[]): Status {
  return { code: 'UnschedulableAndUnresolvable', reasons };
}

/** The plug-in takes no further part in this attempt. */
export const SKIP: Status = { code: 'Skip', reasons: [] };

/** Whether the status keeps the pod from being scheduled now because of the cluster's state. */
export function isRefusal(status: Status | undefined): status is Status {
  return (
    status?.code === 'Unschedulable' ||
    status?.code === 'UnschedulableAndUnresolvable' ||
    status?.code === 'Pending'
  );
}
