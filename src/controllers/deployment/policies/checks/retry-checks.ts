import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { newRun } from './add-measurement.js';
import { readResults, withResults } from './check-results.js';

/** Has the failed checks of its revision measured again, from the beginning. Returns whether there are any. */
export function retryFailedChecks(draft: RolloutDraft, replicaSet: ReplicaSetDraft | undefined): boolean {
  if (!replicaSet) return false;
  const results = readResults(replicaSet.annotations);
  if (!results?.runs.some(({ state }) => state === 'failed')) return false;
  const runs = results.runs.map((run) =>
    run.state === 'failed' ? newRun(run, draft.now, run.attempt + 1) : run,
  );
  draft.annotate(replicaSet, withResults(replicaSet.annotations, { ...results, runs }));
  return true;
}
