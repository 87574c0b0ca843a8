import type { PolicySettings } from '../common/settings.js';

export interface BudgetFields {
  /** Takes no ready pod that a PodDisruptionBudget forbids to take. */
  readonly respectsBudgets: boolean;
}

export const BUDGET_SETTINGS: PolicySettings<BudgetFields> = {
  none: { respectsBudgets: false },
  readers: {
    'disruption-budgets': (text, fields) => {
      if (text !== 'respect' && text !== 'ignore') return 'is neither respect nor ignore';
      fields.respectsBudgets = text === 'respect';
      return undefined;
    },
  },
};
