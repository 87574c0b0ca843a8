import { parseDuration } from '@rollkeeper/machinery/clock';
import { PREFIX, annotationOf } from '../common/names.js';
import {
  NEEDS_ROLLING_UPDATE,
  NO_DURATION,
  type CombinedSettings,
  type GivenSettings,
  type PolicyProblem,
  type PolicySettings,
} from '../common/settings.js';
import type { StepFields } from '../steps/settings.js';

/** A rollout in which the new version comes up whole beside the old one, and a Service moves from the one to the other. */
export interface BlueGreen {
  /** The Service whose selector moves once the new version is approved. */
  readonly activeService: string;
  /** The Service whose selector gets the new version at once. */
  readonly previewService?: string;
  /** Whether it moves without an approval, as soon as the new version is available. */
  readonly autoPromote: boolean;
  /** How long the old version stays whole after that, milliseconds. */
  readonly scaleDownDelayMs: number;
}

/** The values of the annotations, each for itself. */
export interface BlueGreenTexts {
  strategy?: 'rolling' | 'blue-green';
  activeService?: string;
  previewService?: string;
  autoPromote?: boolean;
  scaleDownDelayMs?: number;
}

export interface BlueGreenFields {
  /** Both versions run whole, and a Service moves between them. @default pods are replaced one after the other */
  readonly blueGreen?: BlueGreen;
  /** The texts from which `blueGreen` is made. */
  readonly blueGreenTexts?: BlueGreenTexts;
}

/** On a Service: the Deployment whose rollouts move its selector. */
export const MANAGED_BY = `${PREFIX}managed-by`;
/** On a Service: between which pod-template-hashes its selector was moved last, when, and by whose approval. */
export const SWITCHED = `${PREFIX}switched`;
/** Annotations that mean nothing without `strategy: blue-green`. */
const DEPENDENT_SETTINGS = ['active-service', 'preview-service', 'auto-promote', 'scale-down-delay'];

const DEFAULT_SCALE_DOWN_DELAY_MS = 30_000;
export const SERVICE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

type Read = (text: string, fields: BlueGreenTexts) => string | undefined;

/** Each sets what its text says, or answers why it cannot. */
const READERS: Readonly<Record<string, Read>> = {
  strategy: (text, fields) => {
    if (text !== 'rolling' && text !== 'blue-green') return 'is not one of rolling, blue-green';
    fields.strategy = text;
    return undefined;
  },
  'active-service': (text, fields) => {
    if (!SERVICE_NAME.test(text)) return NO_SERVICE_NAME;
    fields.activeService = text;
    return undefined;
  },
  'preview-service': (text, fields) => {
    if (!SERVICE_NAME.test(text)) return NO_SERVICE_NAME;
    fields.previewService = text;
    return undefined;
  },
  'auto-promote': (text, fields) => {
    if (text !== 'true' && text !== 'false') return 'is neither true nor false';
    fields.autoPromote = text === 'true';
    return undefined;
  },
  'scale-down-delay': (text, fields) => {
    const ms = parseDuration(text);
    if (ms === undefined) return NO_DURATION;
    fields.scaleDownDelayMs = ms;
    return undefined;
  },
};

export const NO_SERVICE_NAME = 'is not the name of a Service';

export const BLUE_GREEN_SETTINGS: PolicySettings<BlueGreenFields, StepFields> = {
  none: {},
  readers: Object.fromEntries(
    Object.entries(READERS).map(([setting, read]) => [
      setting,
      (text, fields) => read(text, (fields.blueGreenTexts ??= {})),
    ]),
  ),
  combine: ({ blueGreenTexts = {}, steps = [] }, given) => combine(blueGreenTexts, given, steps.length > 0),
};

/**
 * The settings together. Two whole versions need a surge of 100 %: with less, the limits of a rolling update would not let the new one
 * come up. It has to be a percentage, since a number of pods would stop being enough when `replicas` grows.
 */
function combine(
  fields: BlueGreenTexts,
  { has, problemOf, shape }: GivenSettings,
  hasSteps: boolean,
): CombinedSettings<BlueGreenFields> {
  if (fields.strategy !== 'blue-green') {
    const idle = fields.strategy ? [] : DEPENDENT_SETTINGS.filter((setting) => has(setting));
    const why = `needs ${annotationOf('strategy')}: blue-green`;
    return { problems: idle.map((setting) => problemOf(setting, why)) };
  }
  const { activeService, autoPromote = false, previewService } = fields;
  const { isRollingUpdate, maxSurge } = shape;
  const problems: PolicyProblem[] = [];
  const refuse = (setting: string, why: string): void => void problems.push(problemOf(setting, why));
  if (activeService === undefined && !has('active-service'))
    refuse('strategy', `needs ${annotationOf('active-service')}`);
  if (!isRollingUpdate) refuse('strategy', NEEDS_ROLLING_UPDATE);
  else if (maxSurge !== undefined && !isWholeSurge(maxSurge))
    refuse(
      'strategy',
      `needs spec.strategy.rollingUpdate.maxSurge of 100% or more, as a percentage, and it is ${maxSurge}`,
    );
  if (hasSteps) refuse('steps', `cannot be combined with ${annotationOf('strategy')}: blue-green`);
  if (activeService !== undefined && activeService === previewService)
    refuse('preview-service', `is the same Service as ${annotationOf('active-service')}`);
  if (problems.length > 0 || activeService === undefined) return { problems };
  const scaleDownDelayMs = fields.scaleDownDelayMs ?? DEFAULT_SCALE_DOWN_DELAY_MS;
  return { fields: { blueGreen: { activeService, previewService, autoPromote, scaleDownDelayMs } } };
}

export function isWholeSurge(maxSurge: string | number): boolean {
  return typeof maxSurge === 'string' && maxSurge.endsWith('%') && Number.parseInt(maxSurge, 10) >= 100;
}
