/** Prefix of the annotations by which a rollout looks after itself, and of those that keep the result (docs/ROLLOUTS.md). */
export const PREFIX = 'rollkeeper.dev/';

/** Asked for once; the controller removes the annotation when it has done so. The value names the requester. */
export const APPROVE = `${PREFIX}approve`;
export const ABORT = `${PREFIX}abort`;
export const RETRY = `${PREFIX}retry`;

/** The name, among those of people, for what the controller does by itself. */
export const OURS = 'rollkeeper';

/** On a Deployment: the templates that failed, newest first. */
export const FAILED = `${PREFIX}failed`;
/** On a StatefulSet or a DaemonSet: the state of its rollout, which a Deployment has in its status. */
export const SET_ROLLOUT = `${PREFIX}rollout`;
/** On a ReplicaSet: since when its revision counts as good, RFC 3339. */
export const GOOD_SINCE = `${PREFIX}good-since`;
/** On a ReplicaSet without a progress deadline: since when its rollout is complete, RFC 3339. */
export const COMPLETE_SINCE = `${PREFIX}complete-since`;
/** On a ReplicaSet: where in its steps the rollout of its revision is. */
export const STEP = `${PREFIX}step`;
/** On a ReplicaSet: which receivers of events know what became of its revision. */
export const TOLD = `${PREFIX}told`;

/** On a ReplicaSet: since when its pods have been given other resources than they were started with, until all of them have those of its template. */
export const RESIZING = `${PREFIX}resizing`;

/** The name of a Deployment, where another object gives it: anyone who may write that object writes it. */
export const OBJECT_NAME = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;

/** @param setting the name of a setting, without the prefix */
export function annotationOf(setting: string): string {
  return PREFIX + setting;
}
