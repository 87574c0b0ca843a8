import { CONFIG_COPIES, type SourceName } from '../../../shared/index.js';
import type { AdmissionRestartFields } from '../admission-restart/settings.js';
import { PREFIX } from '../common/names.js';
import type { PolicySettings } from '../common/settings.js';
import {
  joinSelections,
  parsePinned,
  parseRestartOn,
  readReloader,
  splitAdmission,
  type ConfigSelection,
} from './config-selection.js';

/** On a Deployment: the digests of the configuration that its pods were last started for. */
export const CONFIG_RECORD = `${PREFIX}config-record`;
/** The annotation in which earlier versions kept the record: its JSON is read there, and moved. */
export const FORMER_CONFIG_RECORD = `${PREFIX}config`;
/** On a pod template: the digest of the configuration that it was rolled out for, so that a change of it is another template. */
export const CONFIG_DIGEST = `${PREFIX}config-digest`;

export interface ConfigRestartFields extends AdmissionRestartFields {
  /** The ConfigMaps and Secrets on which it restarts. @default none */
  readonly restartOn?: ConfigSelection;
  /** The sources that are left out of the copies that its versions read. @default versions read the originals */
  readonly pinnedExcept?: ReadonlySet<SourceName>;
}

export const CONFIG_RESTART_SETTINGS: PolicySettings<ConfigRestartFields> = {
  none: {},
  readers: {
    'restart-on': (text, fields) => {
      const { hasAdmission, rest } = splitAdmission(text);
      if (hasAdmission) fields.restartOnAdmission = true;
      if (hasAdmission && rest === '') return undefined;
      const parsed = parseRestartOn(rest);
      if (typeof parsed === 'string') return parsed;
      fields.restartOn = parsed;
      return undefined;
    },
    config: (text, fields) => {
      // The record of an earlier version.
      if (text.startsWith('{')) return undefined;
      const except = parsePinned(text);
      if (typeof except === 'string') return except;
      fields.pinnedExcept = except;
      return undefined;
    },
  },
  combine: ({ pinnedExcept, restartOn: own }, { annotations, shape }) => {
    const { problems = [], selection } = shape.readsReloader
      ? readReloader(annotations)
      : { selection: undefined };
    const pinned = pinnedExcept && selectionOfPins(pinnedExcept);
    const selections = [own, selection, pinned].filter((each) => each !== undefined);
    if (selections.length === 0) return { problems };
    return {
      fields: { restartOn: selections.reduce(joinSelections) },
      problems,
      isAsked: selection !== undefined,
    };
  },
  keeps: [CONFIG_RECORD, CONFIG_COPIES],
};

/** A change of what a version reads copies of is another version. */
function selectionOfPins(except: ReadonlySet<SourceName>): ConfigSelection {
  return { referred: new Set(['configmap', 'secret']), marked: false, named: new Set(), excluded: except };
}
