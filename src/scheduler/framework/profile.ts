import type { SchedulerPlugin } from './plugin.js';

/** Plug-ins of one `schedulerName`, enabled and in order per extension point. A plug-in is at a point only if it implements it. */
export interface Profile {
  readonly schedulerName: string;
  readonly preEnqueue: readonly SchedulerPlugin[];
  readonly queueSort: SchedulerPlugin;
  readonly preFilter: readonly SchedulerPlugin[];
  readonly filter: readonly SchedulerPlugin[];
  readonly postFilter: readonly SchedulerPlugin[];
  readonly preScore: readonly SchedulerPlugin[];
  readonly score: readonly WeightedPlugin[];
  readonly reserve: readonly SchedulerPlugin[];
  readonly permit: readonly SchedulerPlugin[];
  readonly preBind: readonly SchedulerPlugin[];
  readonly bind: readonly SchedulerPlugin[];
  readonly postBind: readonly SchedulerPlugin[];
  /** 1 to 100; 0 or none adapts to the number of nodes. */
  readonly percentageOfNodesToScore?: number;
}

export interface WeightedPlugin {
  readonly plugin: SchedulerPlugin;
  readonly weight: number;
}
