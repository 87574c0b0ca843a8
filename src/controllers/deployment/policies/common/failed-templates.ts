import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../../kubernetes/annotations.js';
import { FAILED } from './names.js';
import { isShortText, isTime, readJson, shortenedTo } from '../../../shared/index.js';

/** A revision, as far as people and later passes need to know which one is meant. */
export interface RevisionRef {
  /** The hash of the pod template. */
  readonly template: string;
  readonly replicaSet: string;
  readonly revision: string;
}

/** A template that is not retried until a person asks for it. */
export interface FailedTemplate extends RevisionRef {
  /** RFC 3339. */
  readonly at: string;
  /** Why, for people. */
  readonly cause: string;
  /** A person ended the rollout. */
  readonly aborted?: true;
  /** The revision that runs in its place. */
  readonly to?: RevisionRef;
  /** It was what an earlier failure went back to: two in a row, so it is left as it is. */
  readonly stopped?: true;
  /** The release that it was part of. @default none */
  readonly release?: string;
  /** It failed with its release, by another Deployment, and only for as long as that one has. */
  readonly byOther?: true;
}

/** Older failures are forgotten, so that the annotation stays small. */
const MOST_KEPT = 5;
/** The longest cause in an annotation, which is copied around with the object. Characters. */
const LONGEST_CAUSE = 300;
/** Limit of an object's name, characters. */
const LONGEST_NAME = 253;

/** Newest first. What cannot be read counts as no failure: another hand wrote it. */
export function readFailures(annotations: Annotations): readonly FailedTemplate[] {
  const read = readJson(annotations[FAILED]);
  return Array.isArray(read) ? read.slice(0, MOST_KEPT).filter(isFailure) : [];
}

/** The annotations with these failures; without any, without the annotation. */
export function withFailures(
  annotations: Annotations,
  failures: readonly FailedTemplate[],
): Record<string, string> {
  const { [FAILED]: _before, ...others } = annotations;
  return failures.length === 0 ? others : { ...others, [FAILED]: stringifyJson(failures) };
}

/** With a failure in front; an earlier one of the same template is replaced. */
export function addFailure(
  failures: readonly FailedTemplate[],
  added: FailedTemplate,
): readonly FailedTemplate[] {
  const others = failures.filter(({ template }) => template !== added.template);
  const cause = shortenedTo(LONGEST_CAUSE, added.cause);
  return [{ ...added, cause }, ...others].slice(0, MOST_KEPT);
}

function isFailure(value: unknown): value is FailedTemplate {
  if (!isJsonObject(value) || !isRef(value)) return false;
  const { aborted, at, byOther, cause, release, stopped, to } = value;
  const isMark = (mark: unknown): boolean => mark === undefined || mark === true;
  return (
    isTime(at) &&
    isShortText(cause) &&
    (to === undefined || isRef(to)) &&
    (release === undefined || isShortText(release, LONGEST_NAME)) &&
    [aborted, stopped, byOther].every(isMark)
  );
}

function isRef(value: unknown): value is RevisionRef {
  if (!isJsonObject(value)) return false;
  return [value['template'], value['replicaSet'], value['revision']].every((field) =>
    isShortText(field, LONGEST_NAME),
  );
}
