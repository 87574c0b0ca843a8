import { parseDuration, renderDuration } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { Deployment, controllerOf } from '@rollkeeper/machinery/kubernetes';
import type { DrainCondition } from './drain-condition.js';
import { parseDrainCondition, renderDrainCondition } from './drain-condition.js';

/** On a ReplicaSet of an old version: how its pods drain, kept up to date by the Deployment controller. */
export const KEEP_OLD_OF_OWNER = 'rollkeeper.dev/keep-old-of-owner';

/** How the pods of old versions leave. */
export interface KeepOldRule {
  readonly until: DrainCondition;
  /** They go after this time in any case, milliseconds. @default 24 hours */
  readonly atMostMs: number;
  /** The pods of versions before these go at once. @default 3 */
  readonly versions: number;
}

const DAY_MS = 86_400_000;
const VERSIONS = 3;
const MOST_MS = 30 * DAY_MS;
const RULE = /^until "(?<until>[^"]{1,700})"(?<limits>(?:, ?at most [\w.]{1,20}){0,2})$/;

/** `until "CONDITION", at most DURATION, at most N`, the limits in any order; undefined if it is none. */
export function parseKeepOld(text: string): KeepOldRule | undefined {
  const { limits = '', until = '' } = RULE.exec(text)?.groups ?? {};
  const condition = parseDrainCondition(until);
  if (!condition) return undefined;
  let atMostMs: number | undefined;
  let versions: number | undefined;
  for (const limit of limits.split(',').slice(1)) {
    const value = limit.trim().slice('at most '.length);
    const isCount = /^\d{1,3}$/.test(value);
    const ms = isCount ? undefined : parseDuration(value);
    if (isCount && versions === undefined && Number(value) > 0) versions = Number(value);
    else if (ms !== undefined && ms > 0 && ms <= MOST_MS && atMostMs === undefined) atMostMs = ms;
    else return undefined;
  }
  return { until: condition, atMostMs: atMostMs ?? DAY_MS, versions: versions ?? VERSIONS };
}

/** A text that {@link parseKeepOld} reads, with both limits. */
export function renderKeepOld({ atMostMs, until, versions }: KeepOldRule): string {
  return `until "${renderDrainCondition(until)}", at most ${renderDuration(atMostMs)}, at most ${versions}`;
}

/** The rule noted on a ReplicaSet of a Deployment; undefined: its pods are deleted, as in Kubernetes. */
export function keepOldRule(replicaSet: DeepReadonly<ReplicaSet>): KeepOldRule | undefined {
  if (controllerOf(replicaSet)?.kind !== Deployment.kind) return undefined;
  return parseKeepOld((replicaSet.metadata.annotations?.[KEEP_OLD_OF_OWNER] ?? '').trim());
}
