import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { readExperimentState, readPlan } from '../experiments/index.js';
import { readCheckResults } from '../policies/checks/check-results.js';
import type { LastMeasured } from '../policies/checks/last-measured.js';
import { lastMeasured } from '../policies/checks/last-measured.js';
import { readExperimentNotes } from '../policies/experiment/experiment-notes.js';
import type { RecordEntry } from './record-entry.js';

interface Fact {
  /** Identifies it for ever. */
  readonly key: string;
  readonly entry: RecordEntry;
}

interface Summed {
  /** `step 2`, or the name of one outside of a rollout. */
  readonly experiment: string;
  readonly verdict: string;
  /** The number of pods of each version. */
  readonly pods: Readonly<Record<string, number>>;
  readonly checks: readonly (Pick<LastMeasured, 'verdict' | 'value'> & { readonly check: string })[];
}

/** An experiment that has ended, in one line for people: its verdict, its pods and its numbers. */
export function sumOfExperiment({ checks, experiment, pods, verdict }: Summed): string {
  const sizes = Object.entries(pods).map(([side, count]) => `${side} ${count}`);
  return `the experiment of ${experiment} ${verdict === 'inconclusive' || verdict === 'stopped' ? 'was' : 'has'} ${verdict}: ${[sizes.join(', '), ...checks.map(numbersOf)].join('; ')}`;
}

function numbersOf({ check, value, verdict }: Summed['checks'][number]): string {
  return `check ${check} ${verdict}${value === undefined ? '' : ` (${value})`}`;
}

/** The experiments of a revision's steps that have a verdict. */
export function stepExperimentFacts(replicaSet: DeepReadonly<ReplicaSet>): readonly Fact[] {
  const runs = readCheckResults(replicaSet);
  return readExperimentNotes(replicaSet.metadata.annotations).flatMap((note) => {
    const { at, began, ended, pods, revision, step, verdict, why } = note;
    if (ended === undefined || verdict === undefined) return [];
    const checks = note.checks.map((check) => {
      const run = runs.find((each) => each.check === check && each.step === step);
      return { check, ...lastMeasured(run) };
    });
    const what = sumOfExperiment({ experiment: `step ${step}`, verdict, pods, checks });
    return [{ key: `x${revision}.${step}@${at}`, entry: entryOf({ began, ended, revision, what, why }) }];
  });
}

/** An experiment outside of rollouts that has ended, in which a Deployment took part. */
export function outsideExperimentFacts(
  keeper: DeepReadonly<ReplicaSet>,
  deployment: string,
): readonly Fact[] {
  const plan = readPlan(keeper);
  const { began, ended, verdict, why } = readExperimentState(keeper);
  const used = plan?.templates.filter((template) => template.deployment === deployment) ?? [];
  if (!plan || used.length === 0 || ended === undefined || verdict === undefined) return [];
  const { name, uid = '' } = keeper.metadata;
  const runs = readCheckResults(keeper);
  const pods = Object.fromEntries(plan.templates.map((template) => [template.name, template.replicas]));
  const checks = plan.checks.map(({ name: check }) => ({
    check,
    ...lastMeasured(runs.find((run) => run.check === check)),
  }));
  const what = sumOfExperiment({ experiment: name, verdict, pods, checks });
  const revision = used.find((template) => template.revision !== undefined)?.revision;
  return [{ key: `x${uid}`, entry: entryOf({ began, ended, revision, what, why }) }];
}

function entryOf({
  began,
  ended,
  revision,
  what,
  why,
}: {
  readonly began: string | undefined;
  readonly ended: string;
  readonly revision: string | undefined;
  readonly what: string;
  readonly why: string | undefined;
}): RecordEntry {
  const tookMs = Date.parse(ended) - Date.parse(began ?? '');
  return {
    ...{ at: ended, kind: 'experiment', what },
    ...(revision !== undefined && { revision }),
    ...(why !== undefined && { why }),
    ...(tookMs >= 0 && { tookMs }),
  };
}
