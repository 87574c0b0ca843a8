import type { AnnotationRules } from '../kubernetes/annotations.js';
import { nearestOf } from './nearest-name.js';
import {
  FIRST_TO_GO,
  POD_REPLACEMENT_OF_OWNER,
  SCALE_DOWN_OF_OWNER,
  ZONE_FIRST,
} from '../../shared/index.js';

/** Prefix of the annotations by which a rollout looks after itself, and of those that keep the result (docs/ROLLOUTS.md). */
export const PREFIX = 'rollkeeper.dev/';

/** What people set, on a Deployment or as a default on its Namespace. */
export const SETTINGS = [
  'on-failure',
  'fail-after',
  'max-failed-pods',
  'failure-causes',
  'bake-time',
  'max-restarts',
  'steps',
  'checks',
  'checks-from',
  'window',
  'freeze',
  'restart-on',
  'disruption-budgets',
  'max-rollouts',
  'rollout-priority',
  'strategy',
  'active-service',
  'preview-service',
  'auto-promote',
  'scale-down-delay',
  'pod-replacement',
  'zones',
  'zone-label',
  'scale-down',
  'history',
  'fast-track',
  'on-eviction',
  'resize',
] as const;
export type Setting = (typeof SETTINGS)[number];

/** Asked for once; the controller removes the annotation when it has done so. The value names the requester. */
export const APPROVE = `${PREFIX}approve`;
export const ABORT = `${PREFIX}abort`;
export const RETRY = `${PREFIX}retry`;
/** Set together with `spec.replicas`: the pods that the ReplicaSet should remove with it. */
export const REMOVE_PODS = `${PREFIX}remove-pods`;

/** On a Deployment: the templates that failed, newest first. */
export const FAILED = `${PREFIX}failed`;
/** On a ReplicaSet: since when its revision counts as good, RFC 3339. */
export const GOOD_SINCE = `${PREFIX}good-since`;
/** On a ReplicaSet without a progress deadline: since when its rollout is complete, RFC 3339. */
export const COMPLETE_SINCE = `${PREFIX}complete-since`;
/** On a ReplicaSet: where in its steps the rollout of its revision is. */
export const STEP = `${PREFIX}step`;
/** On a Deployment: its place in the queue of rollouts. */
export const TURN = `${PREFIX}turn`;
/** On a ReplicaSet: what the checks of its revision have measured. */
export const CHECK_RESULTS = `${PREFIX}check-results`;
/** On a ReplicaSet: which receivers of events know what became of its revision. */
export const TOLD = `${PREFIX}told`;
/** On a Deployment: the digests of the configuration that its pods were last started for. */
export const CONFIG = `${PREFIX}config`;
/** On a pod template: the digest of the configuration that it was rolled out for, so that a change of it is another template. */
export const CONFIG_DIGEST = `${PREFIX}config-digest`;

/** On a ReplicaSet: the zone whose old pods its rollout has begun to take. */
export const ZONE_BEGUN = `${PREFIX}zone-begun`;
/** On a Service: the Deployment whose rollouts move its selector. */
export const MANAGED_BY = `${PREFIX}managed-by`;
/** On a Service: between which pod-template-hashes its selector was moved last, when, and by whose approval. */
export const SWITCHED = `${PREFIX}switched`;
/** On a Deployment: what the change that led to its template was, by the write that made it. */
export const CHANGE = `${PREFIX}change`;
/** On a Deployment: the user who changed its template, where the API names users. */
export const CHANGED_BY = `${PREFIX}changed-by`;
/** On a Deployment: the user who changed its size, to what, and with which generation, where the API names users. */
export const SCALED_BY = `${PREFIX}scaled-by`;
/** The name, among those of people, for what the controller does by itself. */
export const OURS = 'rollkeeper';

/** On a ReplicaSet: how its revisions came about, and how their rollouts ended. */
export const REVISIONS = `${PREFIX}revisions`;

/** On a ReplicaSet: its last changes of size with the sums of their decisions, for a history that lasts. */
export const SIZES = `${PREFIX}sizes`;

/** On a ReplicaSet: since when its pods have been given other resources than they were started with, until all of them have those of its template. */
export const RESIZING = `${PREFIX}resizing`;
/** On a Deployment: the hash of a template whose resources the API did not let its pods have, a colon, and why. */
export const RESIZE_REFUSED = `${PREFIX}resize-refused`;

const SETTING_NAMES: ReadonlySet<string> = new Set(SETTINGS.map(annotationOf));
const KEPT_STATE = [
  ...[POD_REPLACEMENT_OF_OWNER, SCALE_DOWN_OF_OWNER, ZONE_BEGUN, ZONE_FIRST],
  ...[FAILED, GOOD_SINCE, COMPLETE_SINCE, STEP, CONFIG, CHECK_RESULTS, TOLD],
  ...[CHANGE, CHANGED_BY, SCALED_BY, REVISIONS, SIZES, FIRST_TO_GO, TURN, RESIZE_REFUSED, RESIZING],
];
const REQUESTS = [APPROVE, ABORT, RETRY, REMOVE_PODS];

/** Names under the prefix that operators made with the kit leave on a Deployment, and people for them. */
const OF_OPERATORS = ['applied', 'paused'].map((name) => PREFIX + name);
/** Names under the prefix that other parts of Rollkeeper leave on a Deployment. */
const OF_OTHERS = ['traceparent', 'converted-from', 'resume-after-conversion'].map((name) => PREFIX + name);

/** All names under the prefix that a Deployment may have. */
export const KNOWN: ReadonlySet<string> = new Set([
  ...SETTINGS.map(annotationOf),
  ...REQUESTS,
  ...KEPT_STATE,
  ...OF_OTHERS,
  ...OF_OPERATORS,
]);

/**
 * What belongs to the Deployment or to the ReplicaSet that it is on, and is never copied between them. A setting is copied, as
 * Kubernetes copies other annotations, because `kubectl rollout undo` replaces a Deployment's annotations by those of the
 * ReplicaSet that it goes back to. A freeze belongs to the present, and must not come back with a revision.
 */
const UNCOPIED: ReadonlySet<string> = new Set([
  ...REQUESTS,
  ...KEPT_STATE,
  ...OF_OPERATORS,
  annotationOf('freeze'),
]);

/** How the annotations of policies go between a Deployment and its ReplicaSets: a policy must not come back with a rollback. */
export const ANNOTATION_RULES: AnnotationRules = {
  uncopied: UNCOPIED,
  mirrored: SETTING_NAMES,
  keptPrefix: PREFIX,
};

export function annotationOf(setting: Setting): string {
  return PREFIX + setting;
}

/** Whether the annotation is one of a policy, of what became of it, or a name that may have been meant as one. */
export function isPolicyAnnotation(name: string): boolean {
  return name.startsWith(PREFIX);
}

export function isSetting(name: string): boolean {
  return SETTING_NAMES.has(name);
}

/** A name that may have been meant as a setting, by a typo; such names of a Namespace are kept as well. */
export function nearestSetting(name: string): string | undefined {
  if (!isPolicyAnnotation(name) || name.length > LONGEST_NAME) return undefined;
  const nearest = nearestOf(name.slice(PREFIX.length), SETTINGS);
  return nearest && PREFIX + nearest;
}

/** Longer than every setting with a few letters too many. */
const LONGEST_NAME = 64;

export function isKnown(name: string): boolean {
  return KNOWN.has(name);
}
