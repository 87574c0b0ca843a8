export { isFieldSelector, requiredFields, requiredName } from './field-selector-text.js';
export { checkSelectors, parseSelection } from './selection.js';
export type { Selection } from './selection.js';
export { parseShardSelector, shardHashOf } from './shard-selector.js';
export type { ShardSelector } from './shard-selector.js';
