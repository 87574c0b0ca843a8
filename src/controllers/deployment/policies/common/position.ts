import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isCount, isShortText, isTime, readJson } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import { REVISION } from '../../kubernetes/annotations.js';
import { STEP } from './names.js';

/** The number of steps of one rollout. */
export const MOST_STEPS = 50;

export interface Approval {
  /** Counted from 1. */
  readonly step: number;
  /** The name in the annotation. */
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
}

/** The position of a rollout in its steps: kept on its ReplicaSet, so that another template begins at the first. */
export interface Position {
  /** Steps that are behind it. */
  readonly done: number;
  /** When the last of them was over, RFC 3339. */
  readonly since: string;
  readonly approvals: readonly Approval[];
  /**
   * When the pods of the experiment at this step were asked for, RFC 3339, if it has Services, which may keep it from doing so.
   * @default since
   */
  readonly from?: string;
  /** The end of the experiment at this step, RFC 3339. @default it has not begun */
  readonly until?: string;
}

/** Notes the position on the ReplicaSet of the rollout. */
export function writePosition(draft: RolloutDraft, latest: ReplicaSetDraft, position: Position): void {
  const { approvals, done, from, since, until } = position;
  const revision = latest.annotations[REVISION] ?? '';
  const text = stringifyJson({
    ...{ revision, done, since },
    ...(approvals.length > 0 && { approvals }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
  });
  draft.annotate(latest, { ...latest.annotations, [STEP]: text });
}

/**
 * The position of a rollout in its steps, from its ReplicaSet's annotations; `undefined` if none of this revision can
 * be read.
 */
export function readPosition(annotations: Annotations): Position | undefined {
  const read = readJson(annotations[STEP]);
  if (!isJsonObject(read) || read['revision'] !== annotations[REVISION]) return undefined;
  const { approvals = [], done, from, since, until } = read;
  if (!isCount(done) || !isTime(since) || !Array.isArray(approvals)) return undefined;
  return {
    ...{ done, since, approvals: approvals.slice(-MOST_STEPS).filter(isApproval) },
    ...(isTime(from) && { from }),
    ...(isTime(until) && { until }),
  };
}

function isApproval(value: unknown): value is Approval {
  return isJsonObject(value) && isCount(value['step']) && isShortText(value['by']) && isTime(value['at']);
}
