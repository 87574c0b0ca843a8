import type { PluginCatalog } from '../config/build-profiles.js';
import { buildProfiles } from '../config/build-profiles.js';
import type { SchedulerConfiguration } from '../config/compile-configuration.js';
import type { PluginFactory, PluginHandle } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import { DEFAULT_PLUGINS } from './default-plugins.js';
import type { SchedulerPluginDefinition } from '../framework/define-scheduler-plugin.js';

/** The default plug-ins and those of the user, which are on unless the configuration says otherwise. */
export function catalogOf(
  added: readonly SchedulerPluginDefinition[],
  withInput: ReadonlyMap<string, (base: PluginFactory) => PluginFactory>,
  more: ReadonlyMap<string, PluginFactory>,
): PluginCatalog {
  const base = DEFAULT_PLUGINS.map(({ create, name, weight }) => {
    const wrap = withInput.get(name);
    return { name, weight: weight || 1, create: wrap ? wrap(create) : create };
  });
  const names = new Set(base.map(({ name }) => name));
  const rest = [...more]
    .filter(([name]) => !names.has(name))
    .map(([name, create]) => ({ name, weight: 1, create }));
  const all = [...base, ...rest, ...added];
  return {
    factories: new Map(all.map(({ create, name }) => [name, create])),
    defaults: all.map(({ name, weight }) => ({ name, weight })),
  };
}

/** Plug-ins that do what only a running scheduler can. */
export const WITHOUT_BINDING: ReadonlyMap<string, PluginFactory> = new Map([
  ['DefaultBinder', () => ({ name: 'DefaultBinder', bind: () => Promise.resolve(undefined) })],
]);

/**
 * The profiles of a configuration by their names, for decisions alone: nothing is bound.
 * @throws InvalidOptionError naming the field of the configuration
 */
export function profilesFor(
  configuration: SchedulerConfiguration,
  plugins: readonly SchedulerPluginDefinition[],
  handle: PluginHandle,
): ReadonlyMap<string, Profile> {
  return buildProfiles(configuration, catalogOf(plugins, new Map(), WITHOUT_BINDING), handle);
}
