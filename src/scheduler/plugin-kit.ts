/** The parts with which plug-ins of the scheduler are written. Loads nothing of the scheduler itself. */
export { defineSchedulerPlugin } from './framework/define-scheduler-plugin.js';
export type {
  SchedulerPluginDefinition,
  SchedulerPluginPoints,
  SchedulerPluginSetup,
  SchedulerPluginSpec,
} from './framework/define-scheduler-plugin.js';
export type { ClusterEventWithHint, QueueingHint } from './framework/cluster-event.js';
export type { ClusterView, ViewedResource } from './framework/cluster-view.js';
export type { NodeInfo, PodInfo, Snapshot } from './framework/node-info.js';
export type {
  PluginHandle,
  SchedulerPlugin,
  SchedulingContext,
  Verdict,
  WaitingPod,
  WaitingPods,
} from './framework/plugin.js';
export { SKIP, unresolvable, unschedulable } from './framework/status.js';
export type { Status } from './framework/status.js';
