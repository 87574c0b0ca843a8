import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { SchedulerPlugin } from './plugin.js';
import type { Profile, WeightedPlugin } from './profile.js';

export interface ProfileParts {
  /** @default default-scheduler */
  readonly schedulerName?: string;
  /** In order; each takes part at every point that it implements. The weight counts where it scores. */
  readonly plugins: readonly WeightedPlugin[];
  readonly percentageOfNodesToScore?: number;
}

/** The profile in which every plug-in takes part at all of its points. @throws InvalidOptionError unless exactly one plug-in sorts the queue */
export function compileProfile({
  percentageOfNodesToScore,
  plugins,
  schedulerName = 'default-scheduler',
}: ProfileParts): Profile {
  const at = (point: keyof SchedulerPlugin): SchedulerPlugin[] =>
    plugins.map(({ plugin }) => plugin).filter((plugin) => plugin[point] !== undefined);
  const [queueSort, second] = at('less');
  if (!queueSort || second)
    throw new InvalidOptionError(
      'plugins.queueSort',
      queueSort ? 'more than one plug-in sorts the queue' : 'no plug-in sorts the queue',
    );
  return {
    schedulerName,
    queueSort,
    preEnqueue: at('preEnqueue'),
    preFilter: at('preFilter'),
    filter: at('filter'),
    postFilter: at('postFilter'),
    preScore: at('preScore'),
    score: plugins.filter(({ plugin, weight }) => plugin.score && weight > 0),
    reserve: at('reserve'),
    permit: at('permit'),
    preBind: at('preBind'),
    bind: at('bind'),
    postBind: at('postBind'),
    percentageOfNodesToScore,
  };
}
