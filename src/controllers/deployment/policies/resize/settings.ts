import { PREFIX, RESIZING } from '../common/names.js';
import type { PolicySettings } from '../common/settings.js';

/** On a Deployment: the hash of a template whose resources the API did not let its pods have, a colon, and why. */
export const RESIZE_REFUSED = `${PREFIX}resize-refused`;
export interface ResizeFields {
  /** Pods of which only cpu and memory change are resized, and not replaced. */
  readonly resizesInPlace: boolean;
}

export const RESIZE_SETTINGS: PolicySettings<ResizeFields> = {
  none: { resizesInPlace: false },
  readers: {
    resize: (text, fields) => {
      if (text !== 'in-place') return 'is not in-place';
      fields.resizesInPlace = true;
      return undefined;
    },
  },
  keeps: [RESIZING, RESIZE_REFUSED],
};
