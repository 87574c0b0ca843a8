import type { PolicySettings } from '../common/settings.js';

export interface RelabelFields {
  /** Pods of which only labels and annotations change get them as they run, and are not replaced. */
  readonly relabelsInPlace: boolean;
}

export const RELABEL_SETTINGS: PolicySettings<RelabelFields> = {
  none: { relabelsInPlace: false },
  readers: {
    relabel: (text, fields) => {
      if (text !== 'in-place') return 'is not in-place';
      fields.relabelsInPlace = true;
      return undefined;
    },
  },
};
