import { NEEDS_ROLLING_UPDATE, type PolicySettings } from '../common/settings.js';
import { STEP } from '../common/names.js';
import { parseSteps, type Step } from './steps.js';

/** How far a rollout goes at once. */
export interface StepFields {
  readonly steps: readonly Step[];
}

export const STEP_SETTINGS: PolicySettings<StepFields> = {
  none: { steps: [] },
  readers: {
    steps: (text, fields) => {
      const parsed = parseSteps(text);
      if ('problem' in parsed) return parsed.problem;
      fields.steps = parsed.steps;
      return undefined;
    },
  },
  combine: ({ steps = [] }, { problemOf, shape }) =>
    steps.length > 0 && !shape.isRollingUpdate
      ? { problems: [problemOf('steps', NEEDS_ROLLING_UPDATE)] }
      : {},
  ifWrong: { steps: { steps: [] } },
  keeps: [STEP],
};

/** The rollouts that skip the steps. */
export interface FastTrackFields {
  /** A rollout back to one of this many earlier revisions skips the steps. */
  readonly fastTrack: number;
}

export const FAST_TRACK_SETTINGS: PolicySettings<FastTrackFields> = {
  none: { fastTrack: 0 },
  readers: {
    'fast-track': (text, fields) => {
      if (!/^\d{1,3}$/.test(text)) return 'is not a number of revisions of at most 999';
      fields.fastTrack = Number(text);
      return undefined;
    },
  },
};
