import { PREFIX, annotationOf } from '../common/names.js';
import type { PolicySettings } from '../common/settings.js';

/** On a Deployment: its place in the queue of rollouts. */
export const TURN = `${PREFIX}turn`;
export interface TurnFields {
  /** How many Deployments of the Namespace may roll out at once. @default any number */
  readonly maxRollouts?: number;
}

const HIGHEST_PRIORITY = 1_000_000;

export const TURN_SETTINGS: PolicySettings<TurnFields> = {
  none: {},
  readers: {
    'max-rollouts': (text, fields) => {
      fields.maxRollouts = parseMaxRollouts(text);
      return fields.maxRollouts === undefined ? 'is not a number of rollouts above 0' : undefined;
    },
    'rollout-priority': (text) =>
      parsePriority(text) === undefined ? 'is not a whole number from -1000000 to 1000000' : undefined,
  },
  combine: (_, { annotations }) => {
    const annotation = annotationOf('max-rollouts');
    const value = annotations[annotation] ?? '';
    return value.trim() === '' ? {} : { problems: [{ annotation, value, why: 'belongs on the Namespace' }] };
  },
  keeps: [TURN],
};

export function parsePriority(text: string): number | undefined {
  const priority = /^-?\d{1,7}$/.test(text.trim()) ? Number(text) : NaN;
  return Math.abs(priority) <= HIGHEST_PRIORITY ? priority : undefined;
}

export function parseMaxRollouts(text: string): number | undefined {
  return /^[1-9]\d{0,5}$/.test(text.trim()) ? Number(text) : undefined;
}
