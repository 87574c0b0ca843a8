export { AggregatedDiscovery } from './aggregated-discovery.js';
export { ANSWERED_TYPES, groupsOf, groupVersionsOf, isBuiltInGroup, sameItems } from './group-versions.js';
export type { AnsweredType, GroupVersion } from './group-versions.js';
export { coreVersions, groupList, oneGroup, resourceList } from './legacy-discovery.js';
export { subresourceFacts, verbsOf } from './verbs.js';
export type { SubresourceFacts } from './verbs.js';
