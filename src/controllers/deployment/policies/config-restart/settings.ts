import { PREFIX } from '../common/names.js';
import type { PolicySettings } from '../common/settings.js';
import { joinSelections, parseRestartOn, readReloader, type ConfigSelection } from './config-selection.js';

/** On a Deployment: the digests of the configuration that its pods were last started for. */
export const CONFIG = `${PREFIX}config`;
/** On a pod template: the digest of the configuration that it was rolled out for, so that a change of it is another template. */
export const CONFIG_DIGEST = `${PREFIX}config-digest`;
export interface ConfigRestartFields {
  /** The ConfigMaps and Secrets on which it restarts. @default none */
  readonly restartOn?: ConfigSelection;
}

export const CONFIG_RESTART_SETTINGS: PolicySettings<ConfigRestartFields> = {
  none: {},
  readers: {
    'restart-on': (text, fields) => {
      const parsed = parseRestartOn(text);
      if (typeof parsed === 'string') return parsed;
      fields.restartOn = parsed;
      return undefined;
    },
  },
  combine: ({ restartOn: own }, { annotations, shape }) => {
    if (!shape.readsReloader) return {};
    const { problems, selection } = readReloader(annotations);
    if (!selection) return { problems };
    return {
      fields: { restartOn: own ? joinSelections(own, selection) : selection },
      problems,
      isAsked: true,
    };
  },
  keeps: [CONFIG],
};
