export { entriesOf, readRecord, recordNameOf } from './deployment-record.js';
export { createRecordController } from './record-controller.js';
export type { Means, RecordCounts, RecordEntry, RecordKind, RecordSizes } from './record-entry.js';
export { sumOfExperiment } from './experiment-facts.js';
export { byTime } from './record-entry.js';
export { meansOfRevision } from './means.js';
export { wordsOf } from './words.js';
