import type { PolicySettings } from '../common/settings.js';
import { parseWindows, type RolloutWindow } from './windows.js';

/** When a rollout may begin. */
export interface StartFields {
  /** @default always */
  readonly windows: readonly RolloutWindow[];
  /** Why no rollout may begin. */
  readonly freeze?: string;
}

export const START_SETTINGS: PolicySettings<StartFields> = {
  none: { windows: [] },
  readers: {
    window: (text, fields) => {
      const parsed = parseWindows(text);
      if ('problem' in parsed) return parsed.problem;
      fields.windows = parsed.windows;
      return undefined;
    },
    freeze: (text, fields) => {
      fields.freeze = text;
      return undefined;
    },
  },
  uncopied: ['freeze'],
};
