import type { AnnotationRules } from '../kubernetes/annotations.js';
import {
  ABORT,
  APPROVE,
  COMPLETE_SINCE,
  FAILED,
  GOOD_SINCE,
  PREFIX,
  RETRY,
  SET_ROLLOUT,
  TOLD,
  annotationOf,
} from './common/names.js';
import { EXPERIMENT_NOTES } from './experiment/experiment-notes.js';
import { ALL_SETTINGS } from './policies.js';

/** Names that differ in more letters than this are not mistaken for each other, short ones in fewer. */
const MOST_MISTAKES = 3;

/** The known name that a mistyped one is closest to; `undefined` where none is close. */
function nearestOf(name: string, known: Iterable<string>): string | undefined {
  const most = Math.min(MOST_MISTAKES, Math.floor(name.length / 3));
  let best: { readonly name: string; readonly mistakes: number } | undefined;
  for (const each of known) {
    if (Math.abs(each.length - name.length) > most) continue;
    const mistakes = mistakesBetween(name.toLowerCase(), each);
    if (mistakes <= most && mistakes < (best?.mistakes ?? Infinity)) best = { name: each, mistakes };
  }
  return best?.name;
}

/** Letters that are missing, too many, wrong, or swapped with the next one. */
function mistakesBetween(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        row > 1 && isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, last] = [last, next];
  }
  return last[b.length] ?? Infinity;
}

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
  EXPERIMENT_NOTES,
  SET_ROLLOUT,
  ...ALL_SETTINGS.flatMap(({ keeps = [] }) => keeps),
];

/** Names under the prefix that operators made with the kit leave on a Deployment, and people for them. */
const OF_OPERATORS = ['applied', 'paused'].map((name) => PREFIX + name);
/** Names under the prefix that other parts of Rollkeeper leave on a Deployment. */
const OF_OTHERS = ['traceparent', 'converted-from', 'resume-after-conversion', 'scope'].map(
  (name) => PREFIX + name,
);

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
