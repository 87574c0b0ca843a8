export type {
  NodeTrial,
  PluginFactory,
  PluginHandle,
  PostFilterContext,
  PostFilterResult,
  PreFilterResult,
  QueuedPod,
  SchedulerPlugin,
  SchedulingContext,
  Verdict,
} from './framework/plugin.js';
export { MAX_NODE_SCORE } from './framework/plugin.js';
export type { Profile, WeightedPlugin } from './framework/profile.js';
export type {
  HostPort,
  NodeInfo,
  NominatedPods,
  PodInfo,
  ReadableNode,
  ReadablePod,
  ResourceAmounts,
  Snapshot,
} from './framework/node-info.js';
export type { ClusterView, ViewedResource } from './framework/cluster-view.js';
export type { CompileDeviceSelector, DeviceSelector, SelectableDevice } from './framework/device-selector.js';
export { VIEWED_RESOURCES } from './framework/cluster-view.js';
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
export { SchedulerCache } from './cache/scheduler-cache.js';
export { podInfoOf } from './node/pod-info.js';
export { chooseNode, decidePod, findNodes } from './decide/decide-pod.js';
export type { ExtendersWord, Found, PodDecisionInput } from './decide/decide-pod.js';
export type { Chosen, Decision, Failed, Refused, ScoreTable } from './decide/decision.js';
export { compileProfile } from './framework/compile-profile.js';
export type { ProfileParts } from './framework/compile-profile.js';
export { DEFAULT_PLUGINS } from './run/default-plugins.js';
export type { PluginEntry } from './run/default-plugins.js';
export {
  compileConfiguration,
  defaultConfiguration,
  readConfiguration,
} from './config/compile-configuration.js';
export type {
  LeaseConfiguration,
  ProfileConfiguration,
  SchedulerConfiguration,
} from './config/compile-configuration.js';
export type { WrittenConfiguration } from './config/configuration.schema.js';
export { translatePolicy } from './config/translate-policy.js';
export type { TranslatedPolicy } from './config/translate-policy.js';
export { defineSchedulerPlugin } from './framework/define-scheduler-plugin.js';
export type {
  SchedulerPluginDefinition,
  SchedulerPluginPoints,
  SchedulerPluginSetup,
  SchedulerPluginSpec,
} from './framework/define-scheduler-plugin.js';
export type { WaitingPod, WaitingPods } from './framework/plugin.js';
export { Scheduler } from './run/scheduler.js';
export type { SchedulerOptions } from './run/scheduler.js';
export { SCHEDULER_METRICS, createSchedulerMetrics } from './run/metrics.js';
export type { SchedulerMetrics } from './run/metrics.js';
export { isPlan, planVolumes } from './plugins/volumes/plan-volumes.js';
export type { VolumeObstacles, VolumePlan } from './plugins/volumes/plan-volumes.js';
export { sortClaims } from './plugins/volumes/sort-claims.js';
export type { SortedClaims } from './plugins/volumes/sort-claims.js';
export { explainPlacement } from './explain/explain-placement.js';
export type {
  NodeObstacles,
  PlacementExplanation,
  PlacementState,
  PlacementWorld,
  PluginObstacle,
} from './explain/explain-placement.js';
export { profilesFor } from './run/default-catalog.js';
export { servedResources } from './run/served-resources.js';
export { allocationOf } from './plugins/dynamic-resources/allocation-result.js';
