import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { PluginFactory, PluginHandle, SchedulerPlugin } from './plugin.js';

/** The extension points of a plug-in: any of them, and at least one. */
export type SchedulerPluginPoints<State, ScoreState> = Omit<SchedulerPlugin<State, ScoreState>, 'name'>;

interface Named {
  /** As it is named in `KubeSchedulerConfiguration` and in messages. */
  readonly name: string;
  /** How much its scores count. @default 1 */
  readonly weight?: number;
}

/** A plug-in that is the same for every profile. */
export type SchedulerPluginSpec<State, ScoreState> = Named & SchedulerPluginPoints<State, ScoreState>;

/** A plug-in that is built from its arguments in the configuration, once per profile. */
export interface SchedulerPluginSetup<State, ScoreState> extends Named {
  /** @param args of `pluginConfig`; undefined if there are none @throws InvalidOptionError naming a wrong argument */
  setup(args: unknown, handle: PluginHandle): SchedulerPluginPoints<State, ScoreState>;
}

/** Made by {@link defineSchedulerPlugin}. */
export interface SchedulerPluginDefinition {
  readonly name: string;
  readonly weight: number;
  readonly create: PluginFactory;
}

const POINTS = [
  'preEnqueue',
  'less',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
] as const;

/**
 * Defines a plug-in of the scheduler: a class of nodes that pods may not run on, a preference, something to be done before a pod is
 * bound. The types of its states follow from what `preFilter` and `preScore` return.
 *
 * @example
 * export default defineSchedulerPlugin({
 *   name: 'QuietHours',
 *   filter: ({ node }) => (node.metadata.labels?.['quiet'] ? unschedulable('node(s) were quiet') : undefined),
 * });
 * @throws InvalidOptionError naming the field
 */
export function defineSchedulerPlugin<State = undefined, ScoreState = undefined>(
  spec: SchedulerPluginSpec<State, ScoreState> | SchedulerPluginSetup<State, ScoreState>,
): SchedulerPluginDefinition {
  const { name, weight = 1 } = spec;
  if (!/^[A-Za-z][\w.-]*$/.test(name))
    throw new InvalidOptionError('name', `"${name}" is not a name of letters, digits, dots and dashes`);
  if (!Number.isInteger(weight) || weight < 1)
    throw new InvalidOptionError('weight', `${weight} is not a whole number from 1`);
  const create: PluginFactory = (args, handle) => {
    const points = 'setup' in spec ? spec.setup(args, handle) : pointsOf(spec, args);
    if (!POINTS.some((point) => points[point] !== undefined))
      throw new InvalidOptionError(name, `takes part at no point: give it one of ${POINTS.join(', ')}`);
    // Its states are its own: the scheduler hands back what it was given.
    return { ...points, name };
  };
  if (!('setup' in spec)) create(undefined, NOWHERE);
  return { name, weight, create };
}

/** Points that need no handle are checked at once. */
const NOWHERE = {} as PluginHandle;

function pointsOf<State, ScoreState>(
  { name, weight: _weight, ...points }: SchedulerPluginSpec<State, ScoreState>,
  args: unknown,
): SchedulerPluginPoints<State, ScoreState> {
  if (args !== undefined) throw new InvalidOptionError('', `${name} takes no arguments`);
  return points;
}
