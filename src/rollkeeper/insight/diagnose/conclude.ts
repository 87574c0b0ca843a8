import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { ended } from '../ended.js';
import type { Diagnosis, DiagnosisFinding, DiagnosisState, Verdict } from './diagnosis.js';

const RANK = { blocked: 0, waits: 1, note: 2 } as const;

const WORDS: Readonly<Record<DiagnosisState, string>> = {
  healthy: 'Healthy',
  complete: 'Complete',
  'scaled-to-zero': 'Scaled to 0',
  progressing: 'Under way',
  blocked: 'Stuck',
  degraded: 'Degraded',
  paused: 'Paused',
  deleting: 'Deleting',
};

/** The diagnosis that follows of a verdict: the worst finding decides the state and the sentence. */
export function conclude(
  type: ResourceType,
  { metadata }: { readonly metadata: Pick<KubernetesObject['metadata'], 'name' | 'namespace' | 'uid'> },
  { bad = 'blocked', findings, good, progress }: Verdict,
): Diagnosis {
  const waitsFor = findings.toSorted((a, b) => RANK[a.severity] - RANK[b.severity]);
  const [first] = waitsFor;
  const state = stateOf(first, bad, good.state);
  const isGood = first === undefined || first.severity === 'note';
  const figures = progress === undefined || isGood ? '' : `${progress}; `;
  return {
    kind: type.kind,
    apiVersion: apiVersionOf(type),
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    name: metadata.name,
    ...(metadata.uid !== undefined && { uid: metadata.uid }),
    state,
    cause: isGood ? (first?.cause ?? causeOf(good.state)) : first.cause,
    sentence: isGood
      ? ended(`${WORDS[good.state]}: ${good.sentence}`)
      : ended(`${WORDS[state]}: ${figures}${first.summary}`),
    waitsFor,
    unblockedBy: unblockers(waitsFor),
    notes: [],
  };
}

function stateOf(
  first: DiagnosisFinding | undefined,
  bad: NonNullable<Verdict['bad']>,
  good: DiagnosisState,
): DiagnosisState {
  if (first === undefined || first.severity === 'note') return good;
  if (bad === 'deleting' || bad === 'paused') return bad;
  return first.severity === 'blocked' ? bad : 'progressing';
}

function causeOf(state: DiagnosisState): Diagnosis['cause'] {
  if (state === 'complete' || state === 'scaled-to-zero' || state === 'paused') return state;
  return state === 'progressing' ? 'running' : 'healthy';
}

/** The remedies of the blocking findings, otherwise of the waiting ones, otherwise of the notes; each once. */
function unblockers(findings: readonly DiagnosisFinding[]): string[] {
  const [worst] = findings;
  const relevant = findings.filter(({ severity }) => severity === worst?.severity);
  return [...new Set(relevant.flatMap(({ unblockedBy }) => unblockedBy))];
}
