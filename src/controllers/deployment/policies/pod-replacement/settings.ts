import { POD_REPLACEMENTS, POD_REPLACEMENT_OF_OWNER, type PodReplacement } from '../../../shared/index.js';
import type { PolicySettings } from '../common/settings.js';

export interface PodReplacementFields {
  /** When new pods take the place of old ones. @default when those begin to end */
  readonly podReplacement?: PodReplacement;
}

export const POD_REPLACEMENT_SETTINGS: PolicySettings<PodReplacementFields> = {
  none: {},
  readers: {
    'pod-replacement': (text, fields) => {
      const word = POD_REPLACEMENTS.find((known) => known === text);
      if (!word) return `is not one of ${POD_REPLACEMENTS.join(', ')}`;
      fields.podReplacement = word;
      return undefined;
    },
  },
  keeps: [POD_REPLACEMENT_OF_OWNER],
};
