import { KEEP_SPREAD, POD_REPLACEMENTS } from '../../shared/index.js';
import { SURGE } from '@rollkeeper/machinery/kubernetes';
import { MAX_INT32 } from '../kubernetes/int32.js';
import type { BlueGreenSetting } from './blue-green/blue-green-settings.js';
import { isConfigMapName, parseCheckNames } from './checks/check-names.js';
import { parseRestartOn } from './config-restart/config-selection.js';
import { parseDuration } from '@rollkeeper/machinery/clock';
import { FAILURE_CAUSES, parseFailureCauses } from './failure/failure-causes.js';
import { parseHistory } from './history/history-setting.js';
import type { Setting } from './names.js';
import { parsePodCount } from './pod-counts.js';
import type { RolloutPolicy } from './rollout-policy.js';
import { ON_FAILURE } from './rollout-policy.js';
import { parseSteps } from './steps/steps.js';
import { parseMaxRollouts, parsePriority } from './turns/turns.js';
import { parseWindows } from './start/windows.js';

/** The fields of a policy, as far as its settings have been read. */
export type Fields = { -readonly [Field in keyof RolloutPolicy]?: RolloutPolicy[Field] };
/** Sets what the text says, or answers why it cannot. */
type Read = (text: string, fields: Fields) => string | undefined;

/** A name of at most 63 characters, with a DNS name and a slash before it or not. */
const LABEL_NAME = /^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const NO_DURATION = 'is not a duration such as 90s, 5m, 1h30m or 2d';

/** The reader of each setting; those of blue-green are read together. */
export const READERS: Readonly<Record<Exclude<Setting, BlueGreenSetting>, Read>> = {
  'on-failure': (text, fields) => {
    const word = ON_FAILURE.find((known) => known === text);
    if (!word) return `is not one of ${ON_FAILURE.join(', ')}`;
    fields.onFailure = word;
    return undefined;
  },
  'fail-after': (text, fields) => {
    const ms = parseDuration(text);
    if (ms === undefined || ms === 0) return NO_DURATION;
    fields.failAfterMs = ms;
    return undefined;
  },
  'max-failed-pods': (text, fields) => {
    const count = parsePodCount(text);
    if (!count) return 'is neither a number of pods nor a percentage of at most 100%';
    fields.maxFailedPods = count;
    return undefined;
  },
  'failure-causes': (text, fields) => {
    const causes = parseFailureCauses(text);
    if (!causes) return `is neither "all" nor a list of ${FAILURE_CAUSES.join(', ')}`;
    fields.failureCauses = causes;
    return undefined;
  },
  'bake-time': (text, fields) => {
    const ms = parseDuration(text);
    if (ms === undefined) return NO_DURATION;
    fields.bakeMs = ms;
    return undefined;
  },
  'max-restarts': (text, fields) => {
    if (!/^\d{1,10}$/.test(text) || Number(text) > MAX_INT32) return 'is not a number of restarts';
    fields.maxRestarts = Number(text);
    return undefined;
  },
  steps: (text, fields) => {
    const parsed = parseSteps(text);
    if ('problem' in parsed) return parsed.problem;
    fields.steps = parsed.steps;
    return undefined;
  },
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
  window: (text, fields) => {
    const parsed = parseWindows(text);
    if ('problem' in parsed) return parsed.problem;
    fields.windows = parsed.windows;
    return undefined;
  },
  freeze: (text, fields) => {
    fields.freeze = text;
    return undefined;
  },
  zones: (text) => (text === 'one-by-one' ? undefined : 'is not one-by-one'),
  'zone-label': (text) => (LABEL_NAME.test(text) ? undefined : 'is not the name of a label'),
  'scale-down': (text, fields) => {
    if (text !== KEEP_SPREAD) return `is not ${KEEP_SPREAD}`;
    fields.keepsSpread = true;
    return undefined;
  },
  'pod-replacement': (text, fields) => {
    const word = POD_REPLACEMENTS.find((known) => known === text);
    if (!word) return `is not one of ${POD_REPLACEMENTS.join(', ')}`;
    fields.podReplacement = word;
    return undefined;
  },
  'restart-on': (text, fields) => {
    const parsed = parseRestartOn(text);
    if (typeof parsed === 'string') return parsed;
    fields.restartOn = parsed;
    return undefined;
  },
  'disruption-budgets': (text, fields) => {
    if (text !== 'respect' && text !== 'ignore') return 'is neither respect nor ignore';
    fields.respectsBudgets = text === 'respect';
    return undefined;
  },
  'max-rollouts': (text, fields) => {
    fields.maxRollouts = parseMaxRollouts(text);
    return fields.maxRollouts === undefined ? 'is not a number of rollouts above 0' : undefined;
  },
  'rollout-priority': (text) =>
    parsePriority(text) === undefined ? 'is not a whole number from -1000000 to 1000000' : undefined,
  history: (text, fields) => {
    const setting = parseHistory(text);
    if (!setting) return 'is neither on nor off nor a duration from 1h to 90d';
    fields.history = setting.isOn;
    fields.notesSizes = setting.keptForMs !== undefined;
    return undefined;
  },
  'on-eviction': (text, fields) => {
    if (text !== SURGE) return `is not ${SURGE}`;
    fields.surgesOnEviction = true;
    return undefined;
  },
  resize: (text, fields) => {
    if (text !== 'in-place') return 'is not in-place';
    fields.resizesInPlace = true;
    return undefined;
  },
  'fast-track': (text, fields) => {
    if (!/^\d{1,3}$/.test(text)) return 'is not a number of revisions of at most 999';
    fields.fastTrack = Number(text);
    return undefined;
  },
};
