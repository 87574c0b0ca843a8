import type { PolicySettings } from '../common/settings.js';
import { PREFIX } from '../common/names.js';

/** On the ReplicaSet of a new version: the size that the Deployment had when its rollout began. */
export const SIZE_AT_START = `${PREFIX}size-at-start`;

/** `hold`: the size stays as it was when the rollout began. `floor`: it becomes no smaller. */
const MODES = ['hold', 'floor'] as const;
export type AutoscalingMode = (typeof MODES)[number];

export interface AutoscalingFields {
  /** How far a change of `replicas` counts in the middle of a rollout. @default in full */
  readonly autoscaling?: AutoscalingMode;
}

export const AUTOSCALING_SETTINGS: PolicySettings<AutoscalingFields> = {
  none: {},
  readers: {
    autoscaling: (text, fields) => {
      const mode = MODES.find((known) => known === text);
      if (!mode) return `is not one of ${MODES.join(', ')}`;
      fields.autoscaling = mode;
      return undefined;
    },
  },
  keeps: [SIZE_AT_START],
};
