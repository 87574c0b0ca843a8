import type { AnnotationRules } from '../kubernetes/annotations.js';
import {
  ABORT,
  APPROVE,
  COMPLETE_SINCE,
  FAILED,
  GOOD_SINCE,
  PREFIX,
  RETRY,
  TOLD,
  annotationOf,
} from './common/names.js';
import { nearestOf } from './nearest-name.js';
import { ALL_SETTINGS } from './policies.js';

/** The annotations that people set, on a Deployment or as a default on its Namespace. */
export const SETTINGS: readonly string[] = ALL_SETTINGS.flatMap(({ readers }) => Object.keys(readers));

const OWNERS = new Map(
  ALL_SETTINGS.flatMap((settings) => Object.keys(settings.readers).map((name) => [name, settings])),
);

/** The settings of the policy that one of these names belongs to. */
export function settingsOf(setting: string): (typeof ALL_SETTINGS)[number] | undefined {
  return OWNERS.get(setting);
}

const SETTING_NAMES: ReadonlySet<string> = new Set(SETTINGS.map(annotationOf));
const REQUESTS = [APPROVE, ABORT, RETRY];
const KEPT_STATE = [
  FAILED,
  GOOD_SINCE,
  COMPLETE_SINCE,
  TOLD,
  ...ALL_SETTINGS.flatMap(({ keeps = [] }) => keeps),
];

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
 * The annotations that belong to the Deployment or to the ReplicaSet that they are on, and are never copied between
 * them. A setting is copied, as Kubernetes copies other annotations, because `kubectl rollout undo` replaces a
 * Deployment's annotations by those of the ReplicaSet that it goes back to. A freeze belongs to the present, and must
 * not come back with a revision.
 */
const UNCOPIED: ReadonlySet<string> = new Set([
  ...REQUESTS,
  ...KEPT_STATE,
  ...OF_OPERATORS,
  ...ALL_SETTINGS.flatMap(({ uncopied = [] }) => uncopied.map(annotationOf)),
]);

/** How the annotations of policies go between a Deployment and its ReplicaSets: a policy must not come back with a rollback. */
export const ANNOTATION_RULES: AnnotationRules = {
  uncopied: UNCOPIED,
  mirrored: SETTING_NAMES,
  keptPrefix: PREFIX,
};

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
