import type { Annotations } from '../../kubernetes/annotations.js';

/** A problem of an annotation. */
export interface PolicyProblem {
  /** With where it is, if that is the Namespace. */
  readonly annotation: string;
  readonly value: string;
  readonly why: string;
}

/** The facts of the Deployment that settings need. */
export interface PolicyShape {
  /** Whether the strategy can hold a rollout between two sizes. */
  readonly isRollingUpdate: boolean;
  /** `spec.strategy.rollingUpdate.maxSurge`. @default not looked at */
  readonly maxSurge?: string | number;
  /**
   * Why a setting cannot be followed for this kind of workload. On the workload it is a problem then, and as a default of the
   * Namespace it is passed over. @default every setting can
   */
  readonly refuses?: (setting: string, text: string) => string | undefined;
  /** Whether the annotations of Stakater's Reloader are meant for us. @default false: a Reloader may be at work */
  readonly readsReloader?: boolean;
}

/** The settings that a Deployment and its Namespace give, all of them together. */
export interface GivenSettings {
  /** The annotations of the Deployment alone. */
  readonly annotations: Annotations;
  readonly shape: PolicyShape;
  /** Whether a setting has a value, right or wrong. */
  readonly has: (setting: string) => boolean;
  /** The value of a setting. */
  readonly textOf: (setting: string) => string | undefined;
  /** The problem of a setting that does not go with the others. */
  readonly problemOf: (setting: string, why: string) => PolicyProblem;
}

/** The settings of one policy in view of all others. */
export interface CombinedSettings<Fields> {
  /** Fields that follow from several settings. */
  readonly fields?: Partial<Fields>;
  readonly problems?: readonly PolicyProblem[];
  /** Whether something other than a setting asks for the policy. @default false */
  readonly isAsked?: boolean;
}

export type Writable<Fields> = { -readonly [Field in keyof Fields]?: Fields[Field] };

/** Sets what a text says, or returns why it cannot. @param text not empty, without spaces around it */
export type SettingReader<Fields> = (text: string, fields: Writable<Fields>) => string | undefined;

/**
 * The settings of one policy. Each is an annotation of the Deployment, or a default on its Namespace.
 * @typeParam Others fields of other policies that decide whether these settings go together with theirs
 */
export interface PolicySettings<Fields extends object, Others extends object = object> extends SettingRules<
  Fields,
  Others
> {
  /** The fields if nothing is asked for. */
  readonly none: Fields;
}

/** How settings are read. */
export interface SettingRules<Fields extends object, Others extends object = object> {
  /** Fields that differ from `none` if any policy is asked for. */
  readonly asked?: Partial<Fields>;
  /** By the name of the setting, without the prefix. */
  readonly readers: Readonly<Record<string, SettingReader<Fields>>>;
  /** Called once all settings have been read, with the fields that they gave. */
  readonly combine?: (fields: Writable<Fields & Others>, given: GivenSettings) => CombinedSettings<Fields>;
  /** By the name of a setting: the fields in place of one that is wrong. @default what could be read stays */
  readonly ifWrong?: Readonly<Record<string, Partial<Fields>>>;
  /** Settings that belong to the present, and must not come back with a revision. */
  readonly uncopied?: readonly string[];
  /** The annotations in which the policy keeps its state, and those that request something of it once. */
  readonly keeps?: readonly string[];
}

/** The problem of a setting that needs a rolling update. */
export const NEEDS_ROLLING_UPDATE = 'needs spec.strategy.type RollingUpdate';
export const NO_DURATION = 'is not a duration such as 90s, 5m, 1h30m or 2d';
