/**
 * Options in a table: the one place of each one's name, form, default, unit and words. Flags with their help, the check of
 * what is given, types, docs and the chart's schema are made from it. Plain data that loads no validator, so that a
 * command line can print its help cheaply.
 */

interface Common {
  /** The description of the option, in one line. */
  readonly help: string;
  /** The text that the help and the docs show in place of the default, or if there is none. */
  readonly shownDefault?: string;
  /** Placeholder of the value in the help, for example `file`. */
  readonly value?: string;
  /** The variable of the environment that it is also read from. */
  readonly env?: string;
  /** The value of the Helm chart that it is set by. */
  readonly chart?: ChartValue;
}

export interface ChartValue {
  /** For example `leaderElection.leaseDurationMs`. */
  readonly path: string;
  /** The chart's own default, where a cluster needs another one than the program. */
  readonly default?: unknown;
  /** Limits of the chart's own, over those of the option. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

export interface TextOption extends Common {
  readonly kind: 'text';
  readonly default?: string;
  /** The message when it is missing; without it, it may be. */
  readonly required?: string;
  /** The message when it is empty; without it, it may be. */
  readonly notEmpty?: string;
  readonly maxLength?: number;
  readonly pattern?: { readonly matches: RegExp; readonly says: string };
}

export interface NumberOption extends Common {
  readonly kind: 'number';
  readonly default?: number;
  readonly unit?: 'ms';
  readonly isWhole: boolean;
  readonly least: number;
  readonly most?: number;
}

export interface ChoiceOption extends Common {
  readonly kind: 'choice';
  readonly default?: string;
  readonly choices: readonly string[];
}

export interface SwitchOption extends Common {
  readonly kind: 'switch';
  readonly default: boolean;
  /** Whether a value may be given, as in `--name=false`; otherwise the flag alone switches it on. */
  readonly takesValue: boolean;
}

/** `Value` is what the option compiles to. */
export type TableOption<Value = unknown> = (TextOption | NumberOption | ChoiceOption | SwitchOption) & {
  /** A property of the type alone; there is none at run time. */
  readonly compilesTo?: readonly [Value];
};

export type OptionTable = Readonly<Record<string, TableOption>>;

type ValueOf<Option> = Option extends TableOption<infer Value> ? Value : never;
type OptionalNames<Table> = {
  [Name in keyof Table]: undefined extends ValueOf<Table[Name]> ? Name : never;
}[keyof Table];

/** The compiled form of the options of a table: those without a default may be absent. */
export type CompiledTable<Table extends OptionTable> = {
  readonly [Name in Exclude<keyof Table, OptionalNames<Table>>]: ValueOf<Table[Name]>;
} & {
  readonly [Name in OptionalNames<Table>]?: ValueOf<Table[Name]>;
};

/** The input for a table: values, or text as it was typed. */
export type GivenOptions<Table extends OptionTable> = {
  readonly [Name in keyof Table]?: ValueOf<Table[Name]> | string | undefined;
};

/** The type of a value that has a default, or has to be given, is never undefined. */
type Known<Spec, Value> = Spec extends { readonly default: unknown } | { readonly required: string }
  ? Value
  : Value | undefined;

export function text<const Spec extends Omit<TextOption, 'kind'>>(
  spec: Spec,
): TableOption<Known<Spec, string>> {
  return { kind: 'text', ...spec };
}

export function file<const Spec extends Omit<TextOption, 'kind' | 'value' | 'notEmpty'>>(
  spec: Spec,
): TableOption<Known<Spec, string>> {
  return { kind: 'text', value: 'file', notEmpty: 'must name a file', ...spec };
}

export function wholeNumber<const Spec extends Omit<NumberOption, 'kind' | 'isWhole'>>(
  spec: Spec,
): TableOption<Known<Spec, number>> {
  return { kind: 'number', isWhole: true, ...spec };
}

export function decimal<const Spec extends Omit<NumberOption, 'kind' | 'isWhole'>>(
  spec: Spec,
): TableOption<Known<Spec, number>> {
  return { kind: 'number', isWhole: false, ...spec };
}

/** From a millisecond to a day, unless the option says otherwise. */
export function milliseconds<
  const Spec extends Omit<NumberOption, 'kind' | 'isWhole' | 'unit' | 'least'> & { readonly least?: number },
>(spec: Spec): TableOption<Known<Spec, number>> {
  const DAY_MS = 24 * 3_600_000;
  return { kind: 'number', isWhole: true, unit: 'ms', value: 'ms', least: 1, most: DAY_MS, ...spec };
}

export function oneOf<
  const Choices extends readonly string[],
  const Spec extends Omit<ChoiceOption, 'kind' | 'choices' | 'default'> & {
    readonly default?: Choices[number];
  },
>(choices: Choices, spec: Spec): TableOption<Known<Spec, Choices[number]>> {
  return { kind: 'choice', choices, ...spec };
}

/** Off until its flag is given. */
export function flag(
  spec: Omit<SwitchOption, 'kind' | 'default' | 'takesValue' | 'value'>,
): TableOption<boolean> {
  return { kind: 'switch', default: false, takesValue: false, ...spec };
}

/** `--name`, `--name=true`, `--name=false`, as kube-controller-manager takes them. */
export function onOrOff(spec: Omit<SwitchOption, 'kind' | 'takesValue' | 'value'>): TableOption<boolean> {
  return { kind: 'switch', takesValue: true, value: 'bool', ...spec };
}

/** The words for the default; undefined if there are none. */
export function describeDefault(option: TableOption): string | undefined {
  if (option.shownDefault !== undefined) return option.shownDefault;
  if (option.default === undefined || option.default === false || option.default === '') return undefined;
  return String(option.default);
}

/** `must be a, b or c`. */
export function describeChoices(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1) ?? ''}`;
}
