import { KEEP_SPREAD, SCALE_DOWN_OF_OWNER } from '../../../shared/index.js';
import type { PolicySettings } from '../common/settings.js';

export interface ScaleDownFields {
  /** The choice of pods that go when it shrinks leaves the others spread. @default as in Kubernetes */
  readonly keepsSpread: boolean;
}

export const SCALE_DOWN_SETTINGS: PolicySettings<ScaleDownFields> = {
  none: { keepsSpread: false },
  readers: {
    'scale-down': (text, fields) => {
      if (text !== KEEP_SPREAD) return `is not ${KEEP_SPREAD}`;
      fields.keepsSpread = true;
      return undefined;
    },
  },
  keeps: [SCALE_DOWN_OF_OWNER],
};
