import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../../shared/index.js';
import { newRun } from '../policies/checks/add-measurement.js';
import type { CheckDefinition } from '../policies/checks/check-definition.js';
import { parseCheck } from '../policies/checks/check-definition.js';
import type { HostRule } from '../policies/checks/check-hosts.js';
import type { DueCheck } from '../policies/checks/check-needs.js';
import type { CheckRun } from '../policies/checks/check-results.js';
import { findRun, readResults } from '../policies/checks/check-results.js';
import type { CheckSubject } from '../policies/checks/common/subject.js';
import { refusedHost } from '../policies/checks/refused-host.js';
import type { ExperimentPlan, PlannedCheck, PlannedTemplate } from './experiment-plan.js';

/** How the checks of an experiment are at one time. */
export interface JudgedChecks {
  /** Why one of them has failed, for people. */
  readonly failed?: string;
  /** Why one of them cannot be measured, for people. */
  readonly impossible?: string;
  /** Why one of them has no verdict yet, for people. */
  readonly open?: string;
  /** The checks that are to be measured now. */
  readonly due: readonly DueCheck[];
  /** When the next one is due, epoch milliseconds. @default none is */
  readonly nextMs?: number;
}

interface Judging {
  readonly keeper: DeepReadonly<ReplicaSet>;
  readonly plan: ExperimentPlan;
  readonly nowMs: number;
  /** The hosts that checks may ask. Undefined: no checks are measured. */
  readonly hosts: readonly HostRule[] | undefined;
}

interface JudgedCheck {
  readonly failed?: string;
  readonly impossible?: string;
  readonly open?: string;
  readonly due?: DueCheck;
  readonly nextMs?: number;
}

/**
 * Judges the checks by their recorded results. A metric is measured as long as the experiment runs, and a Job or a webhook as often as
 * its definition counts.
 */
export function judgeChecks(judging: Judging): JudgedChecks {
  const all = judging.plan.checks.map((check) => judgeCheck(check, judging));
  const firstOf = (name: 'failed' | 'impossible' | 'open'): string | undefined =>
    all.find((each) => each[name] !== undefined)?.[name];
  const [failed, impossible, open] = [firstOf('failed'), firstOf('impossible'), firstOf('open')];
  const next = all.flatMap(({ nextMs }) => nextMs ?? []);
  return {
    ...(failed !== undefined && { failed }),
    ...(impossible !== undefined && { impossible }),
    ...(open !== undefined && { open }),
    due: all.flatMap(({ due }) => due ?? []),
    ...(next.length > 0 && { nextMs: Math.min(...next) }),
  };
}

function judgeCheck(check: PlannedCheck, judging: Judging): JudgedCheck {
  const { hosts, keeper, nowMs } = judging;
  const name = `check ${check.name}`;
  const run = findRun(readResults(keeper.metadata.annotations ?? {}), { check: check.name });
  if (run?.state === 'failed') return { failed: `${name} failed: ${run.why ?? 'no reason is known'}` };
  const parsed = definitionOf(check, hosts);
  if ('problem' in parsed) return { impossible: `${name} cannot be measured: ${parsed.problem}` };
  const { definition } = parsed;
  const isDecided = run !== undefined && hasEnough(run, definition);
  if (isDecided && isMeasuredOnce(definition)) return {};
  const current = run ?? newRun({ check: check.name }, toRfc3339(nowMs));
  const nextMs = parseTimeMs(current.next) ?? nowMs;
  const subject = subjectOf(check, judging);
  return {
    ...(!isDecided && { open: `${name} has no verdict: ${whyOpen(run, definition)}` }),
    ...(subject && nextMs <= nowMs ? { due: { definition, run: current, subject } } : { nextMs }),
  };
}

function definitionOf(
  { definition: text }: PlannedCheck,
  hosts: Judging['hosts'],
): { readonly definition: CheckDefinition } | { readonly problem: string } {
  if (!hosts) return { problem: 'no checks are measured: start the controller with --rollout-checks' };
  const parsed = parseCheck(text);
  if ('problem' in parsed) return parsed;
  const problem = refusedHost(parsed.check, hosts);
  return problem === undefined ? { definition: parsed.check } : { problem };
}

/** A webhook may cause something, and a Job runs once. */
function isMeasuredOnce({ kind }: CheckDefinition): boolean {
  return kind === 'webhook' || kind === 'job';
}

/** Whether its measurements make a verdict. One that is only observed decides nothing. */
function hasEnough({ recent, unknown }: CheckRun, { count, mode }: CheckDefinition): boolean {
  return mode === 'observe' || (recent.length >= count && unknown === 0);
}

function whyOpen(run: CheckRun | undefined, { count }: CheckDefinition): string {
  if (run && run.unknown > 0) return run.why ?? 'its last measurement is unknown';
  return `${run?.recent.length ?? 0} of ${count} measurements`;
}

function subjectOf(check: PlannedCheck, { keeper, plan }: Judging): CheckSubject | undefined {
  const find = (name: string | undefined) => plan.templates.find((template) => template.name === name);
  const [of, against] = [find(check.of), find(check.against)];
  if (!of) return undefined;
  return {
    check: check.name,
    namespace: keeper.metadata.namespace ?? 'default',
    name: of.deployment ?? plan.name,
    ...versionOf(of),
    ...(against && { stable: versionOf(against) }),
  };
}

/** The Service of a template, if it has one, has the name of its ReplicaSet. */
function versionOf({ hash, replicaSet, revision = '' }: PlannedTemplate) {
  return { revision, replicaSet, hash, service: replicaSet };
}
