import type { Annotations } from '../../kubernetes/annotations.js';
import { parseDuration } from '@rollkeeper/machinery/clock';
import { annotationOf } from '../names.js';

/** What `rollkeeper.dev/history` asks for. */
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
