import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { sameJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { PluginFactory, PluginHandle, SchedulerPlugin } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import type { ProfileConfiguration, SchedulerConfiguration } from './compile-configuration.js';
import type { ExtensionPoint } from './configuration.schema.js';
import type { DefaultPlugin, ExpandedPlugins } from './expand-plugins.js';
import { expandPlugins } from './expand-plugins.js';

/** The plug-ins that a scheduler can be built from. */
export interface PluginCatalog {
  readonly factories: ReadonlyMap<string, PluginFactory>;
  /** The plug-ins that are on unless the configuration says otherwise, in order. */
  readonly defaults: readonly DefaultPlugin[];
}

/** The member by which a plug-in takes part at a point. */
const MEMBERS: Readonly<Partial<Record<ExtensionPoint, keyof SchedulerPlugin>>> = { queueSort: 'less' };

/**
 * Builds the plug-ins of all profiles, each with its arguments.
 * @throws InvalidOptionError naming the field of the configuration
 */
export function buildProfiles(
  { extenders, profiles }: Pick<SchedulerConfiguration, 'extenders' | 'profiles'>,
  catalog: PluginCatalog,
  handle: PluginHandle,
): ReadonlyMap<string, Profile> {
  const ignored = extenders.flatMap(({ managedResources }) =>
    managedResources.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name),
  );
  const built = profiles.map((profile, index) =>
    buildProfile(withIgnoredResources(profile, ignored), `profiles[${index}]`, catalog, handle),
  );
  const [first] = built;
  for (const [index, { queueSort }] of built.entries())
    if (first && (queueSort.name !== first.queueSort.name || !haveSameSort(profiles, index, queueSort.name)))
      throw new InvalidOptionError(
        `profiles[${index}].plugins.queueSort`,
        'must be the same in all profiles, because they share one queue',
      );
  return new Map(built.map((profile) => [profile.schedulerName, profile]));
}

function buildProfile(
  profile: ProfileConfiguration,
  field: string,
  { defaults, factories }: PluginCatalog,
  handle: PluginHandle,
): Profile {
  const args = argsOf(profile, field, factories);
  const plugins = new Map<string, SchedulerPlugin>();
  const pluginOf = (name: string): SchedulerPlugin => {
    const known = plugins.get(name);
    if (known) return known;
    const made = make(name, factories, args.get(name), handle);
    plugins.set(name, made);
    return made;
  };
  // Arguments are checked of plug-ins that are off too.
  for (const name of args.keys()) pluginOf(name);
  const expanded = expandPlugins({
    written: profile.plugins,
    defaults,
    field,
    isKnown: (name) => factories.has(name),
    implementsPoint: (name, point) =>
      pluginOf(name)[MEMBERS[point] ?? (point as keyof SchedulerPlugin)] !== undefined,
  });
  const [queueSort, another] = expanded.queueSort;
  if (!queueSort || another)
    throw new InvalidOptionError(`${field}.plugins.queueSort`, 'exactly one plug-in has to sort the queue');
  if (expanded.bind.length === 0)
    throw new InvalidOptionError(`${field}.plugins.bind`, 'at least one plug-in has to bind');
  const at = (point: keyof ExpandedPlugins) => expanded[point].map(({ name }) => pluginOf(name));
  return {
    schedulerName: profile.schedulerName,
    preEnqueue: at('preEnqueue'),
    queueSort: pluginOf(queueSort.name),
    preFilter: at('preFilter'),
    filter: at('filter'),
    postFilter: at('postFilter'),
    preScore: at('preScore'),
    score: expanded.score.map(({ name, weight }) => ({ plugin: pluginOf(name), weight })),
    reserve: at('reserve'),
    permit: at('permit'),
    preBind: at('preBind'),
    bind: at('bind'),
    postBind: at('postBind'),
    ...(profile.percentageOfNodesToScore !== undefined && {
      percentageOfNodesToScore: profile.percentageOfNodesToScore,
    }),
  };
}

interface PluginArgs {
  readonly args: unknown;
  readonly field: string;
}

function argsOf(
  { pluginConfig }: ProfileConfiguration,
  field: string,
  factories: PluginCatalog['factories'],
): ReadonlyMap<string, PluginArgs> {
  const found = new Map<string, PluginArgs>();
  for (const [index, { args, name }] of pluginConfig.entries()) {
    const at = `${field}.pluginConfig[${index}]`;
    if (!factories.has(name)) throw new InvalidOptionError(`${at}.name`, `there is no plug-in "${name}"`);
    if (found.has(name)) throw new InvalidOptionError(`${at}.name`, `"${name}" is configured twice`);
    found.set(name, { args, field: `${at}.args` });
  }
  return found;
}

function make(
  name: string,
  factories: PluginCatalog['factories'],
  given: PluginArgs | undefined,
  handle: PluginHandle,
): SchedulerPlugin {
  const factory = factories.get(name);
  if (!factory) throw new InvalidOptionError('plugins', `there is no plug-in "${name}"`);
  try {
    return factory(withoutTypeMeta(given?.args), handle);
  } catch (error) {
    if (!(error instanceof InvalidOptionError) || !given) throw error;
    const message = error.message.replace(`${error.option}: `, '');
    throw new InvalidOptionError([given.field, error.option].filter(Boolean).join('.'), message, {
      cause: error,
    });
  }
}

/** `apiVersion` and `kind` of arguments name their type, as in kube-scheduler's files. */
function withoutTypeMeta(args: unknown): unknown {
  if (!isJsonObject(args)) return args;
  const { apiVersion: _version, kind: _kind, ...rest } = args;
  return rest;
}

/** Resources that an extender looks after are none of `NodeResourcesFit`'s. */
function withIgnoredResources(
  profile: ProfileConfiguration,
  ignored: readonly string[],
): ProfileConfiguration {
  if (ignored.length === 0) return profile;
  const fit = profile.pluginConfig.find(({ name }) => name === FIT);
  const before = fit?.args?.['ignoredResources'];
  const others: readonly unknown[] = Array.isArray(before) ? before : [];
  const ignoredResources = [...others, ...ignored];
  const changed = { name: FIT, args: { ...fit?.args, ignoredResources } };
  const pluginConfig = fit
    ? profile.pluginConfig.map((each) => (each === fit ? changed : each))
    : [...profile.pluginConfig, changed];
  return { ...profile, pluginConfig };
}

const FIT = 'NodeResourcesFit';

function haveSameSort(profiles: readonly ProfileConfiguration[], index: number, sort: string): boolean {
  const argsIn = (profile: ProfileConfiguration | undefined) =>
    profile?.pluginConfig.find(({ name }) => name === sort)?.args;
  return sameJson(argsIn(profiles[0]), argsIn(profiles[index]));
}
