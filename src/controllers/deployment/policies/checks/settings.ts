import { PREFIX } from '../common/names.js';
import type { PolicySettings } from '../common/settings.js';
import { isConfigMapName, parseCheckNames } from './check-names.js';

/** On a ReplicaSet: what the checks of its revision have measured. */
export const CHECK_RESULTS = `${PREFIX}check-results`;
/** The checks that are measured while a rollout runs. */
export interface CheckFields {
  /** Names of the checks that are measured all the way through a rollout and its bake time. */
  readonly checks: readonly string[];
  /** The ConfigMap that defines the checks. */
  readonly checksFrom: string;
}

export const CHECK_SETTINGS: PolicySettings<CheckFields> = {
  none: { checks: [], checksFrom: 'rollkeeper-checks' },
  readers: {
    checks: (text, fields) => {
      const names = parseCheckNames(text);
      if (typeof names === 'string') return names;
      fields.checks = names;
      return undefined;
    },
    'checks-from': (text, fields) => {
      if (!isConfigMapName(text)) return 'is not the name of a ConfigMap';
      fields.checksFrom = text;
      return undefined;
    },
  },
  keeps: [CHECK_RESULTS],
};
