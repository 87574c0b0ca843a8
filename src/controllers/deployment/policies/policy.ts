import type { Annotations } from '../annotations.js';
import type { PodReplacement } from '../../shared/index.js';
import { DEFAULT_ZONE_LABEL, KEEP_SPREAD, POD_REPLACEMENTS } from '../../shared/index.js';
import { SURGE } from '@rollkeeper/machinery/kubernetes';
import { MAX_INT32 } from '../int32.js';
import { isConfigMapName, parseCheckNames } from './checks/check-names.js';
import { parseHistory } from './history-setting.js';
import { parseDuration } from './durations.js';
import type { FailureCause } from './failure-causes.js';
import { FAILURE_CAUSES, VERSIONS_OWN, parseFailureCauses } from './failure-causes.js';
import type { ConfigSelection } from './config-selection.js';
import type { BlueGreen, BlueGreenFields, BlueGreenSetting } from './blue-green-settings.js';
import { BLUE_GREEN_READERS, completeBlueGreen, isOfBlueGreen } from './blue-green-settings.js';
import { joinSelections, parseRestartOn, readReloader } from './config-selection.js';
import type { Setting } from './names.js';
import { SETTINGS, annotationOf, isKnown, isPolicyAnnotation } from './names.js';
import type { PodCount } from './pod-counts.js';
import { parsePodCount } from './pod-counts.js';
import type { Step } from './steps.js';
import { parseSteps } from './steps.js';
import { parseMaxRollouts, parsePriority } from './turns.js';
import type { RolloutWindow } from './windows.js';
import { parseWindows } from './windows.js';
import { shortenedTo } from '../../shared/index.js';

/** What becomes of a rollout that failed. */
export const ON_FAILURE = ['none', 'hold', 'rollback'] as const;
export type OnFailure = (typeof ON_FAILURE)[number];

/** How a rollout looks after itself. */
export interface RolloutPolicy {
  readonly onFailure: OnFailure;
  /** How long a new pod may take to become available, milliseconds. @default the progress deadline alone decides */
  readonly failAfterMs?: number;
  /** How many new pods may take longer, or fail, at most. */
  readonly maxFailedPods: PodCount;
  readonly failureCauses: ReadonlySet<FailureCause>;
  /** How long a complete rollout must last before its revision counts as good, milliseconds. */
  readonly bakeMs: number;
  /** More restarts of containers in that time are a failure. @default any number */
  readonly maxRestarts?: number;
  readonly steps: readonly Step[];
  /** Names of the checks that are measured all the way through a rollout and its bake time. */
  readonly checks: readonly string[];
  /** The ConfigMap that defines the checks. */
  readonly checksFrom: string;
  /** When a rollout may begin. @default always */
  readonly windows: readonly RolloutWindow[];
  /** Why no rollout may begin. */
  readonly freeze?: string;
  /** Which ConfigMaps and Secrets it restarts on. @default none */
  readonly restartOn?: ConfigSelection;
  /** Takes no ready pod that a PodDisruptionBudget forbids to take. */
  readonly respectsBudgets: boolean;
  /** How many Deployments of the Namespace may roll out at once. @default any number */
  readonly maxRollouts?: number;
  /** Both versions run whole, and a Service moves between them. @default pods are replaced one after the other */
  readonly blueGreen?: BlueGreen;
  /** The label of nodes by whose values the old pods go one after the other. @default old pods go in any order */
  readonly zoneLabel?: string;
  /** Which pods go when it shrinks leaves the others spread. @default as in Kubernetes */
  readonly keepsSpread: boolean;
  /** When new pods take the place of old ones. @default when those begin to end */
  readonly podReplacement?: PodReplacement;
  /** Whether the requester of a revision, the reason, and how it ended are kept. */
  readonly history: boolean;
  /** Whether each change of size is noted on its ReplicaSet, for a history that lasts. */
  readonly notesSizes: boolean;
  /** Pods of which only cpu and memory change are resized, and not replaced. */
  readonly resizesInPlace: boolean;
  /** A rollout back to one of this many earlier revisions skips the steps. */
  readonly fastTrack: number;
  /** A pod whose eviction was requested goes when another one is available in its place. */
  readonly surgesOnEviction: boolean;
}

/** What is wrong with an annotation. */
export interface PolicyProblem {
  /** With where it is, if that is the Namespace. */
  readonly annotation: string;
  readonly value: string;
  readonly why: string;
}

export type CompiledPolicy =
  | { readonly kind: 'none' }
  | { readonly kind: 'policy'; readonly policy: RolloutPolicy }
  | { readonly kind: 'invalid'; readonly problems: readonly PolicyProblem[] };

export interface PolicyShape {
  /** Whether the strategy can hold a rollout between two sizes. */
  readonly isRollingUpdate: boolean;
  /** `spec.strategy.rollingUpdate.maxSurge`. @default not looked at */
  readonly maxSurge?: string | number;
  /** Whether the annotations of Stakater's Reloader are meant for us. @default false: a Reloader may be at work */
  readonly readsReloader?: boolean;
}

type Fields = { -readonly [Field in keyof RolloutPolicy]?: RolloutPolicy[Field] };
/** Sets what the text says, or answers why it cannot. */
type Read = (text: string, fields: Fields) => string | undefined;

const NONE: CompiledPolicy = { kind: 'none' };
const NO_RELOADER: ReturnType<typeof readReloader> = { problems: [] };

/**
 * The policy that the annotations of a Deployment ask for, with those of its Namespace as defaults; an empty value turns a default
 * off. One wrong value, and there is no policy at all: a rollout that is half looked after would be worse than none.
 */
export function compilePolicy(
  deployment: Annotations | undefined,
  namespace: Annotations | undefined,
  { isRollingUpdate, maxSurge, readsReloader = false }: PolicyShape = { isRollingUpdate: true },
): CompiledPolicy {
  const given = givenSettings(deployment, namespace);
  const problems: PolicyProblem[] = [...unknownNames(deployment), ...ownLimitProblems(deployment)];
  const fields: Fields = {};
  const blueGreen: BlueGreenFields = {};
  for (const { setting, text, where } of given) {
    const why = isOfBlueGreen(setting)
      ? BLUE_GREEN_READERS[setting](text, blueGreen)
      : READERS[setting](text, fields);
    if (why !== undefined)
      problems.push({ annotation: `${annotationOf(setting)}${where}`, value: text, why });
  }
  const reloader = readsReloader ? readReloader(deployment ?? {}) : NO_RELOADER;
  problems.push(...reloader.problems);
  if (reloader.selection) fields.restartOn = joined(fields.restartOn, reloader.selection);
  const settings = new Set(given.map(({ setting }) => setting));
  const hasSteps = (fields.steps?.length ?? 0) > 0;
  const completed = completeBlueGreen(blueGreen, settings, { isRollingUpdate, maxSurge, hasSteps });
  if (completed.blueGreen) fields.blueGreen = completed.blueGreen;
  if (settings.has('zones'))
    fields.zoneLabel = given.find(({ setting }) => setting === 'zone-label')?.text ?? DEFAULT_ZONE_LABEL;
  const surge = fields.surgesOnEviction && surgeProblem(isRollingUpdate, maxSurge);
  const isBlueGreen = completed.blueGreen !== undefined;
  const refuse = (setting: Setting, why: string): number => problems.push(problemOf(given, setting, why));
  if (surge) refuse('on-eviction', surge);
  if (hasSteps && !isRollingUpdate) refuse('steps', NEEDS_ROLLING_UPDATE);
  for (const { setting, why } of completed.problems) refuse(setting, why);
  for (const [setting, why] of zoneProblems(settings, { isRollingUpdate, isBlueGreen })) refuse(setting, why);
  if (problems.length > 0) return { kind: 'invalid', problems };
  return given.length === 0 && !reloader.selection
    ? NONE
    : { kind: 'policy', policy: { ...NO_POLICY, history: true, ...fields } };
}

const NEEDS_ROLLING_UPDATE = 'needs spec.strategy.type RollingUpdate';

/** The problem of a setting that does not go with the others. */
function problemOf(given: readonly Given[], setting: Setting, why: string): PolicyProblem {
  const found = given.find((each) => each.setting === setting);
  return { annotation: `${annotationOf(setting)}${found?.where ?? ''}`, value: found?.text ?? '', why };
}

function ownLimitProblems(deployment: Annotations | undefined): PolicyProblem[] {
  const annotation = annotationOf('max-rollouts');
  const value = deployment?.[annotation] ?? '';
  return value.trim() === '' ? [] : [{ annotation, value, why: 'belongs on the Namespace' }];
}

function surgeProblem(isRollingUpdate: boolean, maxSurge: string | number | undefined): string | undefined {
  if (!isRollingUpdate) return NEEDS_ROLLING_UPDATE;
  const isNone = maxSurge !== undefined && Number.parseInt(String(maxSurge), 10) === 0;
  return isNone ? 'needs spec.strategy.rollingUpdate.maxSurge above 0' : undefined;
}

function zoneProblems(
  given: ReadonlySet<Setting>,
  { isBlueGreen, isRollingUpdate }: { readonly isBlueGreen: boolean; readonly isRollingUpdate: boolean },
): readonly (readonly [Setting, string])[] {
  if (!given.has('zones'))
    return given.has('zone-label') ? [['zone-label', `needs ${annotationOf('zones')}`]] : [];
  if (!isRollingUpdate) return [['zones', NEEDS_ROLLING_UPDATE]];
  // A budget gives pods one by one, wherever they are.
  if (given.has('disruption-budgets'))
    return [['zones', `cannot be combined with ${annotationOf('disruption-budgets')}`]];
  return isBlueGreen ? [['zones', `cannot be combined with ${annotationOf('strategy')}: blue-green`]] : [];
}

/** `rollkeeper.dev/steps: "20%%": …` */
export function renderProblems(problems: readonly PolicyProblem[]): string {
  return problems
    .map(({ annotation, value, why }) => `${annotation}: "${shortenedTo(LONGEST_VALUE, value)}" ${why}`)
    .join('; ');
}

/** Where nothing is asked for. */
export const NO_POLICY: RolloutPolicy = {
  onFailure: 'none',
  maxFailedPods: { pods: 0 },
  failureCauses: VERSIONS_OWN,
  bakeMs: 0,
  steps: [],
  checks: [],
  checksFrom: 'rollkeeper-checks',
  windows: [],
  respectsBudgets: false,
  history: false,
  notesSizes: false,
  resizesInPlace: false,
  fastTrack: 0,
  surgesOnEviction: false,
  keepsSpread: false,
};

const READERS: Readonly<Record<Exclude<Setting, BlueGreenSetting>, Read>> = {
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

/** Of a wrong value, in a message. Characters. */
const LONGEST_VALUE = 80;
/** A name of at most 63 characters, with a DNS name and a slash before it or not. */
const LABEL_NAME = /^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const NO_DURATION = 'is not a duration such as 90s, 5m, 1h30m or 2d';

function joined(own: ConfigSelection | undefined, added: ConfigSelection): ConfigSelection {
  return own ? joinSelections(own, added) : added;
}

interface Given {
  readonly setting: Setting;
  readonly text: string;
  /** Appended to the annotation in the message of a problem. */
  readonly where: string;
}

function givenSettings(
  deployment: Annotations | undefined,
  namespace: Annotations | undefined,
): readonly Given[] {
  return SETTINGS.flatMap((setting): Given[] => {
    const name = annotationOf(setting);
    const own = deployment?.[name];
    const text = (own ?? namespace?.[name] ?? '').trim();
    return text === '' ? [] : [{ setting, text, where: own === undefined ? ' of the Namespace' : '' }];
  });
}

/** A name that is not known may be one that was meant otherwise. Those of a Namespace may be for other things. */
function unknownNames(deployment: Annotations | undefined): PolicyProblem[] {
  return Object.entries(deployment ?? {})
    .filter(([name]) => isPolicyAnnotation(name) && !isKnown(name))
    .map(([annotation, value]) => ({ annotation, value, why: `is under a name that is not known` }));
}
