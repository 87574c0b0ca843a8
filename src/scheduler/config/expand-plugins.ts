import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { ExtensionPoint, ParsedPlugins, PluginSet } from './configuration.schema.js';
import { EXTENSION_POINTS } from './configuration.schema.js';

/** A plug-in that is on by default, at all points that it implements. */
export interface DefaultPlugin {
  readonly name: string;
  /** @default 1 */
  readonly weight?: number;
}

interface PlacedPlugin {
  readonly name: string;
  readonly weight: number;
}

/** The plug-ins that are on at each extension point, in order. */
export type ExpandedPlugins = Readonly<Record<ExtensionPoint, readonly PlacedPlugin[]>>;

interface ExpandInput {
  readonly written: ParsedPlugins;
  readonly defaults: readonly DefaultPlugin[];
  /** Whether there is a plug-in of that name. */
  readonly isKnown: (name: string) => boolean;
  readonly implementsPoint: (name: string, point: ExtensionPoint) => boolean;
  /** The path of the profile in the configuration, for errors. */
  readonly field: string;
}

/**
 * Decides which plug-ins are on, and in which order. At each point: first those of `multiPoint` that are named at the
 * point as well, in the order there; then the others of `multiPoint`; then the others of the point. Source:
 * `mergePlugins` and `expandMultiPointPlugins` in k/k pkg/scheduler.
 * @throws InvalidOptionError naming the field
 */
export function expandPlugins(input: ExpandInput): ExpandedPlugins {
  const { defaults, written } = input;
  checkNames(input);
  const multi = mergeMultiPoint(written.multiPoint, defaults);
  const points = EXTENSION_POINTS.map((point) => [point, atPoint(point, multi, input)] as const);
  return Object.fromEntries(points) as Record<ExtensionPoint, readonly PlacedPlugin[]>;
}

/** Defaults keep their places; what is named again takes the place of its default; the rest follows. */
function mergeMultiPoint(
  { disabled, enabled }: PluginSet = { enabled: [], disabled: [] },
  defaults: readonly DefaultPlugin[],
): readonly DefaultPlugin[] {
  const off = new Set(disabled.map(({ name }) => name));
  const given = new Map(enabled.map((plugin) => [plugin.name, plugin]));
  const kept = off.has('*') ? [] : defaults.filter(({ name }) => !off.has(name));
  const inPlace = kept.map((plugin) => withDefaultWeight(given.get(plugin.name), plugin));
  const names = new Set(kept.map(({ name }) => name));
  return [
    ...inPlace,
    ...enabled.filter(({ name }) => !names.has(name)).map((each) => withDefaultWeight(each)),
  ];
}

function withDefaultWeight(
  given: { readonly name: string; readonly weight?: number | undefined } | undefined,
  otherwise?: DefaultPlugin,
): DefaultPlugin {
  if (!given) return otherwise ?? { name: '' };
  return { name: given.name, weight: given.weight || (otherwise?.weight ?? 1) };
}

function atPoint(
  point: ExtensionPoint,
  multi: readonly DefaultPlugin[],
  { implementsPoint, written }: ExpandInput,
): readonly PlacedPlugin[] {
  const { disabled = [], enabled = [] } = written[point] ?? {};
  const own = new Map(enabled.map((plugin) => [plugin.name, plugin]));
  const off = new Set(disabled.map(({ name }) => name));
  const ofMulti = off.has('*')
    ? []
    : multi.filter(({ name }) => !off.has(name) && implementsPoint(name, point));
  const weightOf = new Map(multi.map(({ name, weight }) => [name, weight]));
  const place = (name: string): PlacedPlugin => ({
    name,
    weight: own.get(name)?.weight || (weightOf.get(name) ?? 1),
  });
  const both = enabled.filter(({ name }) => ofMulti.some((each) => each.name === name));
  const isBoth = new Set(both.map(({ name }) => name));
  return [
    ...both.map(({ name }) => place(name)),
    ...ofMulti.filter(({ name }) => !isBoth.has(name)).map(({ name }) => place(name)),
    ...enabled.filter(({ name }) => !isBoth.has(name)).map(({ name }) => place(name)),
  ];
}

function checkNames({ field, implementsPoint, isKnown, written }: ExpandInput): void {
  for (const [point, { disabled, enabled }] of Object.entries(written)) {
    const at = (list: string, index: number): string => `${field}.plugins.${point}.${list}[${index}].name`;
    const seen = new Set<string>();
    for (const [index, { name }] of enabled.entries()) {
      if (seen.has(name)) throw new InvalidOptionError(at('enabled', index), `"${name}" is enabled twice`);
      seen.add(name);
      if (!isKnown(name)) throw new InvalidOptionError(at('enabled', index), `there is no plug-in "${name}"`);
      if (point !== 'multiPoint' && !implementsPoint(name, point as ExtensionPoint))
        throw new InvalidOptionError(at('enabled', index), `"${name}" has no ${point}`);
    }
    for (const [index, { name }] of disabled.entries())
      if (name !== '*' && !isKnown(name))
        throw new InvalidOptionError(at('disabled', index), `there is no plug-in "${name}"`);
  }
}
