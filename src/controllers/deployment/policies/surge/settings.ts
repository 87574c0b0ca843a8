import type { BudgetFields } from '../budgets/settings.js';
import { NEEDS_ROLLING_UPDATE, type PolicySettings } from '../common/settings.js';

export interface SurgeFields extends Partial<BudgetFields> {
  /** An old pod goes first if a new one finds no room. */
  readonly surgesIfItFits: boolean;
}

const IF_IT_FITS = 'if-it-fits';

export const SURGE_SETTINGS: PolicySettings<SurgeFields> = {
  none: { surgesIfItFits: false },
  readers: {
    surge: (text, fields) => {
      if (text !== IF_IT_FITS) return `is not ${IF_IT_FITS}`;
      fields.surgesIfItFits = true;
      return undefined;
    },
  },
  combine: ({ surgesIfItFits }, { problemOf, shape, textOf }) => {
    if (!surgesIfItFits) return {};
    if (!shape.isRollingUpdate) return { problems: [problemOf('surge', NEEDS_ROLLING_UPDATE)] };
    // The pod that goes first is available: only the budgets tell whether it may.
    if (textOf('disruption-budgets') === 'ignore')
      return { problems: [problemOf('surge', 'does not go with disruption-budgets: ignore')] };
    return { fields: { respectsBudgets: true } };
  },
  ifWrong: { surge: { surgesIfItFits: false } },
};
