import type { Annotations } from '../../kubernetes/annotations.js';
import { parseDuration } from '@rollkeeper/machinery/clock';
import { PREFIX, annotationOf } from '../common/names.js';
import type { PolicySettings } from '../common/settings.js';

/** On a Deployment: what the change that led to its template was, by the write that made it. */
export const CHANGE = `${PREFIX}change`;
/** On a Deployment: the user who changed its template, where the API names users. */
export const CHANGED_BY = `${PREFIX}changed-by`;
/** On a Deployment: the user who changed its size, to what, and with which generation, where the API names users. */
export const SCALED_BY = `${PREFIX}scaled-by`;
/** On a ReplicaSet: how its revisions came about, and how their rollouts ended. */
export const REVISIONS = `${PREFIX}revisions`;
/** On a ReplicaSet: its last changes of size with the sums of their decisions, for a history that lasts. */
export const SIZES = `${PREFIX}sizes`;
export interface HistoryFields {
  /** Whether the requester of a revision, the reason, and how it ended are kept. */
  readonly history: boolean;
  /** Whether each change of size is noted on its ReplicaSet, for a history that lasts. */
  readonly notesSizes: boolean;
}

export const HISTORY_SETTINGS: PolicySettings<HistoryFields> = {
  none: { history: false, notesSizes: false },
  asked: { history: true },
  readers: {
    history: (text, fields) => {
      const setting = parseHistory(text);
      if (!setting) return 'is neither on nor off nor a duration from 1h to 90d';
      fields.history = setting.isOn;
      fields.notesSizes = setting.keptForMs !== undefined;
      return undefined;
    },
  },
  keeps: [CHANGE, CHANGED_BY, SCALED_BY, REVISIONS, SIZES],
};

/** The setting `rollkeeper.dev/history`. */
export interface HistorySetting {
  /** Whether each revision keeps how it came about and how it ended. */
  readonly isOn: boolean;
  /** How long the whole history is kept. @default not beyond the revisions themselves */
  readonly keptForMs?: number;
}

const SHORTEST_MS = 3_600_000;
/** A year of history would not fit into one object. */
const LONGEST_MS = 90 * 86_400_000;

/** `on`, `off`, or a duration, which is also `on`. Undefined for anything else. */
export function parseHistory(text: string): HistorySetting | undefined {
  if (text === 'on' || text === 'off') return { isOn: text === 'on' };
  const keptForMs = parseDuration(text);
  if (keptForMs === undefined || keptForMs < SHORTEST_MS || keptForMs > LONGEST_MS) return undefined;
  return { isOn: true, keptForMs };
}

/**
 * How long the history of a Deployment is kept, by its annotation or that of its Namespace; regardless of what other annotations say.
 * Undefined: no longer than its revisions.
 */
export function historyKeptForMs(
  deployment: Annotations | undefined,
  namespace: Annotations | undefined,
): number | undefined {
  const name = annotationOf('history');
  const text = deployment?.[name] ?? namespace?.[name] ?? '';
  return parseHistory(text.trim())?.keptForMs;
}
