export type {
  PluginFactory,
  PluginHandle,
  PostFilterResult,
  PreFilterResult,
  QueuedPod,
  SchedulerPlugin,
  SchedulingContext,
  Verdict,
} from './framework/plugin.js';
export { MAX_NODE_SCORE } from './framework/plugin.js';
export type { HostPort, NodeInfo, PodInfo, ResourceAmounts, Snapshot } from './framework/node-info.js';
export type { ClusterView, ViewedResource } from './framework/cluster-view.js';
export type {
  ClusterEvent,
  ClusterEventWithHint,
  EventAction,
  EventResource,
  QueueingHint,
  QueueingHintFunction,
} from './framework/cluster-event.js';
export { SKIP, isRefusal, unresolvable, unschedulable } from './framework/status.js';
export type { Status, StatusCode } from './framework/status.js';
