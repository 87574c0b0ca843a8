import type { EventNote } from '@rollkeeper/runtime';
import { renderDuration, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../../shared/index.js';
import type { HostRule } from '../policies/checks/check-hosts.js';
import type { DueCheck } from '../policies/checks/check-needs.js';
import { requesterOf, shownName } from '../policies/common/requester.js';
import type { ExperimentPlan } from './experiment-plan.js';
import { EXPERIMENT_STOP, readPlan } from './experiment-plan.js';
import type { ExperimentState, ExperimentVerdict } from './experiment-state.js';
import { readExperimentState } from './experiment-state.js';
import { judgeChecks } from './judge-checks.js';

/** An experiment as it is seen. */
export interface ExperimentView {
  /** The ReplicaSet that keeps the experiment. */
  readonly keeper: DeepReadonly<ReplicaSet>;
  /** The ReplicaSets that the keeper controls; they have the pods. */
  readonly members: readonly DeepReadonly<ReplicaSet>[];
  readonly nowMs: number;
  /** The hosts that checks may ask. @default no checks are measured */
  readonly hosts?: readonly HostRule[] | undefined;
}

/** The effect of a pass on an experiment, in this order. */
export interface ExperimentDecision {
  /** The new state, to be recorded. @default it stays */
  readonly state?: ExperimentState;
  readonly note?: EventNote;
  /** The ReplicaSets to delete, with their pods and Services. */
  readonly remove: readonly DeepReadonly<ReplicaSet>[];
  /** Whether its result has been kept long enough. */
  readonly forget: boolean;
  /** The checks to measure now. */
  readonly due: readonly DueCheck[];
  /** When to look again, unless something happens before, milliseconds. */
  readonly lookAgainAfterMs?: number;
}

/** A result whose plan cannot be read is kept for this long, milliseconds. */
const KEPT_WITHOUT_PLAN_MS = 3_600_000;
const NOTHING = { remove: [], forget: false, due: [] } as const;

/** Decides the next step of an experiment. Pure: a replica that takes over comes to the same. */
export function decideExperiment(view: ExperimentView): ExperimentDecision {
  const { keeper, members, nowMs } = view;
  if (keeper.metadata.deletionTimestamp !== undefined) return NOTHING;
  const state = readExperimentState(keeper);
  const plan = readPlan(keeper);
  const endedMs = parseTimeMs(state.ended);
  if (endedMs !== undefined) {
    // A time that another hand wrote keeps nothing for longer than its plan says.
    const fromMs = Math.min(endedMs, plan ? lastMs(view, plan) : nowMs);
    const leftMs = fromMs + (plan?.keepMs ?? KEPT_WITHOUT_PLAN_MS) - nowMs;
    return {
      ...NOTHING,
      remove: living(members),
      forget: leftMs <= 0,
      lookAgainAfterMs: Math.max(0, leftMs),
    };
  }
  if (!plan) return ended(view, state, 'failed', 'what it asks for cannot be read');
  const by = requesterOf(keeper.metadata.annotations ?? {}, EXPERIMENT_STOP);
  if (by !== undefined) return ended(view, state, 'stopped', `stopped, ${shownName(by, 'claimed')}`);
  return state.until === undefined ? start(view, plan) : run(view, plan, state);
}

/** Its time begins when all pods are available, once. */
function start(view: ExperimentView, plan: ExperimentPlan): ExperimentDecision {
  const { keeper, nowMs } = view;
  const missing = missingOf(view, plan);
  if (missing === undefined) {
    const state = { began: toRfc3339(nowMs), until: toRfc3339(nowMs + plan.durationMs) };
    const message = `All pods of experiment ${keeper.metadata.name} are available; it runs until ${state.until}`;
    return {
      ...NOTHING,
      state,
      note: { type: 'Normal', reason: 'ExperimentStarted', message },
      lookAgainAfterMs: 0,
    };
  }
  const createdMs = parseTimeMs(keeper.metadata.creationTimestamp) ?? nowMs;
  const leftMs = createdMs + plan.startWithinMs - nowMs;
  if (leftMs > 0) return { ...NOTHING, lookAgainAfterMs: leftMs };
  const why = `its pods were not available within ${renderDuration(plan.startWithinMs)} (${missing})`;
  return ended(view, {}, 'failed', why);
}

/** When it is over at the latest, epoch milliseconds. */
function lastMs({ keeper, nowMs }: ExperimentView, { durationMs, startWithinMs }: ExperimentPlan): number {
  const createdMs = parseTimeMs(keeper.metadata.creationTimestamp) ?? nowMs;
  return createdMs + startWithinMs + durationMs;
}

function run(view: ExperimentView, plan: ExperimentPlan, state: ExperimentState): ExperimentDecision {
  const { hosts, keeper, members, nowMs } = view;
  const gone = plan.templates.find(({ replicaSet }) => !find(members, replicaSet));
  if (gone) return ended(view, state, 'failed', `ReplicaSet ${gone.replicaSet} was deleted`);
  const { due, failed, impossible, nextMs, open } = judgeChecks({ keeper, plan, nowMs, hosts });
  if (failed !== undefined) return ended(view, state, 'failed', failed);
  if (impossible !== undefined) return ended(view, state, 'inconclusive', impossible);
  const untilMs = Math.min(parseTimeMs(state.until) ?? nowMs, lastMs(view, plan));
  if (nowMs >= untilMs)
    return open === undefined
      ? ended(view, state, 'passed')
      : ended(view, state, 'inconclusive', `${open} when the time was over`);
  return { ...NOTHING, due, lookAgainAfterMs: Math.max(0, Math.min(nextMs ?? untilMs, untilMs) - nowMs) };
}

function ended(
  { keeper, members, nowMs }: ExperimentView,
  { began, until }: ExperimentState,
  verdict: ExperimentVerdict,
  why?: string,
): ExperimentDecision {
  const message = `Experiment ${keeper.metadata.name} has ended: ${verdict}${why === undefined ? '' : `, because ${why}`}`;
  const type = verdict === 'passed' || verdict === 'stopped' ? 'Normal' : 'Warning';
  return {
    ...NOTHING,
    state: {
      ...(began !== undefined && { began }),
      ...(until !== undefined && { until }),
      ended: toRfc3339(nowMs),
      verdict,
      ...(why !== undefined && { why }),
    },
    note: { type, reason: 'ExperimentEnded', message },
    remove: living(members),
    lookAgainAfterMs: 0,
  };
}

function living(members: ExperimentView['members']): ExperimentView['members'] {
  return members.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

function find(members: ExperimentView['members'], name: string): DeepReadonly<ReplicaSet> | undefined {
  return living(members).find(({ metadata }) => metadata.name === name);
}

/** The pods that are not available yet, for people; undefined if all of them are. */
function missingOf({ members }: ExperimentView, { templates }: ExperimentPlan): string | undefined {
  const all = templates.map(({ name, replicaSet, replicas }) => {
    const available = find(members, replicaSet)?.status?.availableReplicas ?? 0;
    return { name, replicas, available: Math.min(Number(available), replicas) };
  });
  if (all.every(({ available, replicas }) => available === replicas)) return undefined;
  return all.map(({ available, name, replicas }) => `${name} ${available} of ${replicas}`).join(', ');
}
