import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { PluginFactory, PluginHandle, SchedulerPlugin } from '../framework/plugin.js';
import type { PluginCatalog } from './build-profiles.js';

const handle: PluginHandle = { view: { get: () => undefined, list: () => [] }, log: silentLogger };

/** A few plug-ins by the default ones' names, which do nothing. */
const SMALL: Readonly<Record<string, Omit<SchedulerPlugin, 'name'>>> = {
  PrioritySort: { less: () => false },
  TaintToleration: { filter: () => undefined, score: () => 0 },
  NodeResourcesFit: { preFilter: () => ({}), filter: () => undefined, score: () => 0 },
  ImageLocality: { score: () => 0 },
  DefaultBinder: { bind: () => Promise.resolve(undefined) },
  Custom: { filter: () => undefined, score: () => 0, preEnqueue: () => undefined },
};

export function aCatalog() {
  const given = new Map<string, unknown>();
  const factoryOf =
    (name: string): PluginFactory =>
    (args) => {
      given.set(name, args);
      if (typeof args === 'object' && args !== null && 'wrong' in args)
        throw new InvalidOptionError('wrong', 'is not an argument');
      return { name, ...SMALL[name] };
    };
  const catalog: PluginCatalog = {
    factories: new Map(Object.keys(SMALL).map((name) => [name, factoryOf(name)])),
    defaults: [
      { name: 'PrioritySort' },
      { name: 'TaintToleration', weight: 3 },
      { name: 'NodeResourcesFit', weight: 1 },
      { name: 'ImageLocality' },
      { name: 'DefaultBinder' },
    ],
  };
  return { catalog, given, handle };
}
