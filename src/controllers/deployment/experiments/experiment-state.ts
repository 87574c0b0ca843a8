import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isShortText, isTime, readJson } from '../../shared/index.js';
import { PREFIX } from '../policies/common/names.js';
import type { ExperimentVerdict } from '../policies/experiment/experiment-notes.js';
import { EXPERIMENT_VERDICTS } from '../policies/experiment/experiment-notes.js';

export type { ExperimentVerdict };

/** On the ReplicaSet that keeps an experiment: how far it is, as JSON. The controller writes it. */
export const EXPERIMENT_STATE = `${PREFIX}experiment-state`;

/** How far an experiment is. Times are RFC 3339. */
export interface ExperimentState {
  /** When all of its pods were available, and its time began. @default not yet */
  readonly began?: string;
  /** When its time is over. */
  readonly until?: string;
  /** When it ended, and its pods were removed. @default it runs */
  readonly ended?: string;
  readonly verdict?: ExperimentVerdict;
  /** Why it did not pass, for people. */
  readonly why?: string;
}

/** The state on a ReplicaSet. One that cannot be read is that of an experiment which has not begun. */
export function readExperimentState({
  metadata,
}: DeepReadonly<Pick<ReplicaSet, 'metadata'>>): ExperimentState {
  const read = readJson(metadata.annotations?.[EXPERIMENT_STATE]);
  return isState(read) ? read : {};
}

/** The state as the text of its annotation. */
export function renderExperimentState(state: ExperimentState): string {
  return stringifyJson(state);
}

function isState(value: unknown): value is ExperimentState {
  if (!isJsonObject(value)) return false;
  const { began, ended, until, verdict, why } = value;
  return (
    [began, ended, until].every((time) => time === undefined || isTime(time)) &&
    (began === undefined) === (until === undefined) &&
    (ended === undefined) === (verdict === undefined) &&
    (verdict === undefined || EXPERIMENT_VERDICTS.some((known) => known === verdict)) &&
    (why === undefined || isShortText(why))
  );
}
