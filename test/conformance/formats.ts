import type { ConformanceFormat, RecordedCase } from './conformance-format.js';
import { deploymentCases } from './deployment-cases.js';
import { disruptionCases } from './disruption-cases.js';
import type { ReplicaSetCase } from './replicaset-cases.js';
import { isReplicaSetCase, rulesOf, runReplicaSetCase } from './replicaset-cases.js';
import { schedulerCases } from './scheduler-cases.js';
import { kubectlCases } from './kubectl/kubectl-cases.js';
import { statefulSetCases } from './statefulset-cases.js';
import { recordedAnswers } from './recorded-answers.js';
import { recordedExactAnswers } from './recorded-exact-answers.js';
import { recordedDefaults } from './recorded-defaults.js';
import { surfaceCases } from './surface-cases.js';

const replicaSetCases: ConformanceFormat = {
  name: 'replicaset',
  matches: isReplicaSetCase,
  run: (recorded: RecordedCase) => runReplicaSetCase(recorded as unknown as ReplicaSetCase),
  async deliberate(recorded) {
    const testCase = recorded as unknown as ReplicaSetCase;
    return rulesOf(testCase, await runReplicaSetCase(testCase));
  },
};

/** All known recording formats. */
export const formats: readonly ConformanceFormat[] = [
  statefulSetCases,
  deploymentCases,
  replicaSetCases,
  disruptionCases,
  recordedExactAnswers,
  recordedAnswers,
  recordedDefaults,
  schedulerCases,
  surfaceCases,
  kubectlCases,
];
