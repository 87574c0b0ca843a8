import { FIRST_TO_GO, RESPONDER_OF_OWNER } from '../../../shared/index.js';
import { SURGE } from '@rollkeeper/machinery/kubernetes';
import { NEEDS_ROLLING_UPDATE, type PolicySettings, type PolicyShape } from '../common/settings.js';

export interface EvictionFields {
  /** A pod whose eviction was requested goes when another one is available in its place. */
  readonly surgesOnEviction: boolean;
}

export const EVICTION_SETTINGS: PolicySettings<EvictionFields> = {
  none: { surgesOnEviction: false },
  readers: {
    'on-eviction': (text, fields) => {
      if (text !== SURGE) return `is not ${SURGE}`;
      fields.surgesOnEviction = true;
      return undefined;
    },
  },
  combine: ({ surgesOnEviction }, { problemOf, shape }) => {
    const why = surgesOnEviction ? surgeProblem(shape) : undefined;
    return why === undefined ? {} : { problems: [problemOf('on-eviction', why)] };
  },
  ifWrong: { 'on-eviction': { surgesOnEviction: false } },
  keeps: [FIRST_TO_GO, RESPONDER_OF_OWNER],
};

/** Why pods cannot come before others go. */
export function surgeProblem({ isRollingUpdate, maxSurge }: PolicyShape): string | undefined {
  if (!isRollingUpdate) return NEEDS_ROLLING_UPDATE;
  const isNone = maxSurge !== undefined && Number.parseInt(String(maxSurge), 10) === 0;
  return isNone ? 'needs spec.strategy.rollingUpdate.maxSurge above 0' : undefined;
}
