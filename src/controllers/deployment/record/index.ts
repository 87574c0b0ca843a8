export { LEVEL_SIZES, compactRecord } from './compact-record.js';
export { EMPTY_RECORD, entriesOf, readRecord, recordNameOf, renderRecord } from './deployment-record.js';
export type { DeploymentRecord } from './deployment-record.js';
export { createRecordController } from './record-controller.js';
export type { Means, RecordCounts, RecordEntry, RecordKind, RecordSizes } from './record-entry.js';
export { byTime } from './record-entry.js';
export { meansOfRevision } from './means.js';
export { wordsOf } from './words.js';
