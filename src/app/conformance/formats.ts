import type { ConformanceFormat, RecordedCase } from './conformance-format.js';
import { deploymentCases } from './deployment-cases.js';
import { disruptionCases } from './disruption-cases.js';
import type { ReplicaSetCase } from './replicaset-cases.js';
import { isReplicaSetCase, runReplicaSetCase } from './replicaset-cases.js';
import { statefulSetCases } from './statefulset-cases.js';
import { validationAnswers } from './validation-answers.js';

const replicaSetCases: ConformanceFormat = {
  name: 'replicaset',
  matches: isReplicaSetCase,
  run: (recorded: RecordedCase) => runReplicaSetCase(recorded as unknown as ReplicaSetCase),
};

/** All formats of recordings that we know. */
export const formats: readonly ConformanceFormat[] = [
  statefulSetCases,
  deploymentCases,
  replicaSetCases,
  disruptionCases,
  validationAnswers,
];
