import { parseDuration } from '@rollkeeper/machinery/clock';
import type { Setting } from '../names.js';
import { annotationOf } from '../names.js';

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

/** What the annotations say, each for itself. */
export interface BlueGreenFields {
  strategy?: 'rolling' | 'blue-green';
  activeService?: string;
  previewService?: string;
  autoPromote?: boolean;
  scaleDownDelayMs?: number;
}

export interface BlueGreenShape {
  readonly isRollingUpdate: boolean;
  /** `spec.strategy.rollingUpdate.maxSurge`. @default not looked at */
  readonly maxSurge?: string | number;
  readonly hasSteps: boolean;
}

/** Annotations that mean nothing without `strategy: blue-green`. */
export const BLUE_GREEN_SETTINGS = [
  'active-service',
  'preview-service',
  'auto-promote',
  'scale-down-delay',
] as const satisfies readonly Setting[];

/** Those, and what turns them on. */
export type BlueGreenSetting = 'strategy' | (typeof BLUE_GREEN_SETTINGS)[number];

const DEFAULT_SCALE_DOWN_DELAY_MS = 30_000;
const SERVICE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

type Read = (text: string, fields: BlueGreenFields) => string | undefined;

/** Each sets what its text says, or answers why it cannot. */
export const BLUE_GREEN_READERS: Readonly<Record<BlueGreenSetting, Read>> = {
  strategy: (text, fields) => {
    if (text !== 'rolling' && text !== 'blue-green') return 'is not one of rolling, blue-green';
    fields.strategy = text;
    return undefined;
  },
  'active-service': (text, fields) => {
    if (!SERVICE_NAME.test(text)) return NO_NAME;
    fields.activeService = text;
    return undefined;
  },
  'preview-service': (text, fields) => {
    if (!SERVICE_NAME.test(text)) return NO_NAME;
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
    if (ms === undefined) return 'is not a duration such as 90s, 5m, 1h30m or 2d';
    fields.scaleDownDelayMs = ms;
    return undefined;
  },
};

export function isOfBlueGreen(setting: Setting): setting is BlueGreenSetting {
  return Object.hasOwn(BLUE_GREEN_READERS, setting);
}

const NO_NAME = 'is not the name of a Service';

/** Which setting is wrong in view of the others, and why. */
export interface BlueGreenProblem {
  readonly setting: Setting;
  readonly why: string;
}

/**
 * The settings together. Two whole versions need a surge of 100 %: with less, the limits of a rolling update would not let the new one
 * come up. It has to be a percentage, since a number of pods would stop being enough when `replicas` grows.
 */
export function completeBlueGreen(
  fields: BlueGreenFields,
  given: ReadonlySet<Setting>,
  { hasSteps, isRollingUpdate, maxSurge }: BlueGreenShape,
): { readonly blueGreen?: BlueGreen; readonly problems: readonly BlueGreenProblem[] } {
  if (fields.strategy !== 'blue-green') {
    const idle = fields.strategy ? [] : BLUE_GREEN_SETTINGS.filter((setting) => given.has(setting));
    const why = `needs ${annotationOf('strategy')}: blue-green`;
    return { problems: idle.map((setting) => ({ setting, why })) };
  }
  const { activeService, autoPromote = false, previewService } = fields;
  const problems: BlueGreenProblem[] = [];
  const refuse = (setting: Setting, why: string): void => void problems.push({ setting, why });
  if (activeService === undefined && !given.has('active-service'))
    refuse('strategy', `needs ${annotationOf('active-service')}`);
  if (!isRollingUpdate) refuse('strategy', 'needs spec.strategy.type RollingUpdate');
  else if (maxSurge !== undefined && !isWhole(maxSurge))
    refuse(
      'strategy',
      `needs spec.strategy.rollingUpdate.maxSurge of 100% or more, as a percentage, and it is ${maxSurge}`,
    );
  if (hasSteps) refuse('steps', `cannot be combined with ${annotationOf('strategy')}: blue-green`);
  if (activeService !== undefined && activeService === previewService)
    refuse('preview-service', `is the same Service as ${annotationOf('active-service')}`);
  if (problems.length > 0 || activeService === undefined) return { problems };
  const scaleDownDelayMs = fields.scaleDownDelayMs ?? DEFAULT_SCALE_DOWN_DELAY_MS;
  return { blueGreen: { activeService, previewService, autoPromote, scaleDownDelayMs }, problems };
}

function isWhole(maxSurge: string | number): boolean {
  return typeof maxSurge === 'string' && maxSurge.endsWith('%') && Number.parseInt(maxSurge, 10) >= 100;
}
