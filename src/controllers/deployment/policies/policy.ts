import type { Annotations } from '../kubernetes/annotations.js';
import { DEFAULT_ZONE_LABEL } from '../../shared/index.js';
import { VERSIONS_OWN } from './failure/failure-causes.js';
import type { ConfigSelection } from './config-restart/config-selection.js';
import type { BlueGreenFields } from './blue-green/blue-green-settings.js';
import { BLUE_GREEN_READERS, completeBlueGreen, isOfBlueGreen } from './blue-green/blue-green-settings.js';
import { joinSelections, readReloader } from './config-restart/config-selection.js';
import type { Setting } from './names.js';
import { SETTINGS, annotationOf } from './names.js';
import type { Fields } from './setting-readers.js';
import { READERS } from './setting-readers.js';
import type { PolicyProblem, RolloutPolicy } from './rollout-policy.js';
import { unknownNames } from './unknown-names.js';
import { shortenedTo } from '../../shared/index.js';

export type { OnFailure, PolicyProblem, RolloutPolicy } from './rollout-policy.js';

export type CompiledPolicy =
  | { readonly kind: 'none' }
  | { readonly kind: 'policy'; readonly policy: RolloutPolicy }
  /** `policy` is what can be read of it, with {@link RolloutPolicy.unclear}. */
  | {
      readonly kind: 'invalid';
      readonly problems: readonly PolicyProblem[];
      readonly policy: RolloutPolicy;
    };

export interface PolicyShape {
  /** Whether the strategy can hold a rollout between two sizes. */
  readonly isRollingUpdate: boolean;
  /** `spec.strategy.rollingUpdate.maxSurge`. @default not looked at */
  readonly maxSurge?: string | number;
  /** Whether the annotations of Stakater's Reloader are meant for us. @default false: a Reloader may be at work */
  readonly readsReloader?: boolean;
}

const NONE: CompiledPolicy = { kind: 'none' };
const NO_RELOADER: ReturnType<typeof readReloader> = { problems: [] };

/**
 * The policy that the annotations of a Deployment ask for, with those of its Namespace as defaults; an empty value turns a default
 * off. After one wrong value it is unclear what protects a rollout, so no new version may begin until it is corrected.
 */
export function compilePolicy(
  deployment: Annotations | undefined,
  namespace: Annotations | undefined,
  { isRollingUpdate, maxSurge, readsReloader = false }: PolicyShape = { isRollingUpdate: true },
): CompiledPolicy {
  const given = givenSettings(deployment, namespace);
  const problems: PolicyProblem[] = [...unknownNames(deployment, namespace), ...ownLimitProblems(deployment)];
  const fields: Fields = {};
  const blueGreen: BlueGreenFields = {};
  for (const { setting, text, where } of given) {
    const why = read(setting, text, fields, blueGreen);
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
  const policy = { ...NO_POLICY, history: true, ...fields };
  if (problems.length > 0) return { kind: 'invalid', problems, policy: readable(policy, problems) };
  return given.length === 0 && !reloader.selection ? NONE : { kind: 'policy', policy };
}

/** Why a setting cannot have a value, in any combination. @param text not empty */
export function valueProblem(setting: Setting, text: string): string | undefined {
  return read(setting, text, {}, {});
}

function read(
  setting: Setting,
  text: string,
  fields: Fields,
  blueGreen: BlueGreenFields,
): string | undefined {
  return isOfBlueGreen(setting)
    ? BLUE_GREEN_READERS[setting](text, blueGreen)
    : READERS[setting](text, fields);
}

/** Without what does not go with the rest. */
function readable(policy: RolloutPolicy, problems: readonly PolicyProblem[]): RolloutPolicy {
  const isWrong = (setting: Setting): boolean =>
    problems.some(({ annotation }) => annotation.split(' ')[0] === annotationOf(setting));
  return {
    ...policy,
    unclear: renderProblems(problems),
    surgesOnEviction: policy.surgesOnEviction && !isWrong('on-eviction'),
    steps: isWrong('steps') ? [] : policy.steps,
    zoneLabel: isWrong('zones') || isWrong('zone-label') ? undefined : policy.zoneLabel,
  };
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

/** `rollkeeper.dev/steps: "20%%": …`; the first of many. */
export function renderProblems(problems: readonly PolicyProblem[]): string {
  const named = problems.slice(0, MOST_NAMED).map(renderProblem);
  const more = problems.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** One of {@link renderProblems}. */
export function renderProblem({ annotation, value, why }: PolicyProblem): string {
  return `${annotation}: "${shortenedTo(LONGEST_VALUE, value)}" ${why}`;
}

/** In one message; a condition is read by people. */
const MOST_NAMED = 10;

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

/** Of a wrong value, in a message. Characters. */
const LONGEST_VALUE = 80;
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
