import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { parseQuantity, readyConditionOf } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../shared/index.js';

/** While a pod may still be starting, its CPU usage only counts once it is ready. */
const CPU_INITIALIZATION_MS = 300_000;
/** A pod that stopped being ready within this time of its start has never been ready. */
const INITIAL_READINESS_MS = 30_000;
/** A change smaller than a tenth is ignored. */
const DEFAULT_TOLERANCE = 0.1;

/** A pod's measurement; amounts are in thousandths of a CPU or of a byte. */
export interface PodSample {
  readonly milli: number;
  readonly takenMs: number;
  readonly windowMs: number;
}

/** A metric of type `Resource` or `ContainerResource`. */
export interface ResourceMetric {
  readonly resource: string;
  /** Only this container of each pod counts. @default all containers */
  readonly container?: string;
  readonly target: { readonly utilization: number } | { readonly averageMilli: number };
}

export interface ScaleFacts {
  /** The pods matched by the target's selector. */
  readonly pods: readonly DeepReadonly<Pod>[];
  /** By pod name; a pod without one was not measured. */
  readonly samples: ReadonlyMap<string, PodSample>;
  readonly currentReplicas: number;
  readonly tolerance: Tolerance;
  readonly nowMs: number;
}

/** Ignored deviation from the target. */
export interface Tolerance {
  readonly down: number;
  readonly up: number;
}

export interface Proposal {
  readonly replicas: number;
  /** The measured values, for the status. */
  readonly current: { readonly averageUtilization?: number; readonly averageMilli: number };
}

/** Why there is no proposal, in the genuine controller's words. */
export interface Problem {
  readonly problem: string;
}

export function isProblem(outcome: object): outcome is Problem {
  return 'problem' in outcome;
}

export function milliOf(quantity: string | number): number | undefined {
  const nanos = parseQuantity(String(quantity))?.nanos;
  return nanos === undefined ? undefined : Math.ceil(Number(nanos) / 1e6);
}

export function toleranceOf(quantity: string | number | undefined): number {
  const milli = quantity === undefined ? undefined : milliOf(quantity);
  return milli === undefined ? DEFAULT_TOLERANCE : milli / 1000;
}

/**
 * The number of pods for one metric. Unready and unmeasured pods are counted conservatively: as idle if the others ask
 * for more, and as fully used if they ask for fewer. Source: `GetResourceReplicas`, `GetRawResourceReplicas` in k/k
 * pkg/controller/podautoscaler.
 */
export function decideReplicas(metric: ResourceMetric, facts: ScaleFacts): Proposal | Problem {
  const { currentReplicas, pods, tolerance } = facts;
  if (pods.length === 0) return { problem: 'no pods returned by selector while calculating replica count' };
  const { measured, missing, unready } = groupPods(metric, facts);
  const requests = 'utilization' in metric.target ? requestsOf(metric, pods) : new Map<string, number>();
  if (isProblem(requests)) return requests;
  if (measured.size === 0)
    return { problem: 'did not receive metrics for targeted pods (pods might be unready)' };
  const first = usageRatio(metric, measured, requests);
  if (isProblem(first)) return first;
  const unchanged = { replicas: currentReplicas, current: first.current };
  const isTolerable = (ratio: number): boolean => ratio >= 1 - tolerance.down && ratio <= 1 + tolerance.up;
  const raises = first.ratio > 1;
  const lowers = first.ratio < 1;
  const idle = raises ? [...unready, ...missing] : [];
  if (idle.length === 0 && missing.length === 0) {
    if (isTolerable(first.ratio)) return unchanged;
    return { ...unchanged, replicas: Math.ceil(first.ratio * measured.size) };
  }
  const counted = new Map(measured);
  for (const name of idle) counted.set(name, 0);
  if (lowers) for (const name of missing) counted.set(name, fullUse(metric, requests.get(name) ?? 0));
  const second = usageRatio(metric, counted, requests);
  if (isProblem(second)) return second;
  const turns = (raises && second.ratio < 1) || (lowers && second.ratio > 1);
  if (isTolerable(second.ratio) || turns) return unchanged;
  const replicas = Math.ceil(second.ratio * counted.size);
  const contradicts = second.ratio < 1 ? replicas > currentReplicas : replicas < currentReplicas;
  return contradicts ? unchanged : { ...unchanged, replicas };
}

interface Groups {
  /** Usage of the pods that count, thousandths. */
  readonly measured: Map<string, number>;
  readonly missing: string[];
  readonly unready: string[];
}

/** Finished and terminating pods are ignored. */
function groupPods({ resource }: ResourceMetric, { nowMs, pods, samples }: ScaleFacts): Groups {
  const groups: Groups = { measured: new Map(), missing: [], unready: [] };
  for (const pod of pods) {
    const { deletionTimestamp, name } = pod.metadata;
    const { phase } = pod.status ?? {};
    if (deletionTimestamp !== undefined || phase === 'Failed') continue;
    const sample = samples.get(name);
    if (phase === 'Pending') groups.unready.push(name);
    else if (!sample) groups.missing.push(name);
    else if (resource === 'cpu' && isStarting(pod, sample, nowMs)) groups.unready.push(name);
    else groups.measured.set(name, sample.milli);
  }
  return groups;
}

/** Whether the pod's CPU usage is meaningless yet. */
function isStarting(pod: DeepReadonly<Pod>, sample: PodSample, nowMs: number): boolean {
  const ready = readyConditionOf(pod);
  const startMs = parseTimeMs(pod.status?.startTime);
  if (!ready || startMs === undefined) return true;
  const changedMs = parseTimeMs(ready.lastTransitionTime) ?? startMs;
  const isUnready = ready.status === 'False';
  if (startMs + CPU_INITIALIZATION_MS > nowMs)
    return isUnready || sample.takenMs < changedMs + sample.windowMs;
  return isUnready && startMs + INITIAL_READINESS_MS > changedMs;
}

/** The pods' requests, thousandths; one missing request makes the metric unusable. */
function requestsOf(
  { container: only, resource }: ResourceMetric,
  pods: readonly DeepReadonly<Pod>[],
): Map<string, number> | Problem {
  const requests = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    let sum = 0;
    const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
    for (const { name, resources } of [...spec.containers, ...sidecars]) {
      if (only !== undefined && name !== only) continue;
      const milli = milliOf(resources?.requests?.[resource] ?? '');
      if (milli === undefined)
        return { problem: `missing request for ${resource} in container ${name} of Pod ${metadata.name}` };
      sum += milli;
    }
    requests.set(metadata.name, sum);
  }
  return requests;
}

/** The assumed usage of an unmeasured pod if the others use too little. */
function fullUse({ target }: ResourceMetric, request: number): number {
  if ('averageMilli' in target) return target.averageMilli;
  return Math.trunc((request * Math.max(100, target.utilization)) / 100);
}

/** The ratio of usage to target: 1 meets it. */
function usageRatio(
  { target }: ResourceMetric,
  used: ReadonlyMap<string, number>,
  requests: ReadonlyMap<string, number>,
): { readonly ratio: number; readonly current: Proposal['current'] } | Problem {
  const total = sum(used.values());
  const averageMilli = Math.trunc(total / used.size);
  if ('averageMilli' in target)
    return { ratio: averageMilli / target.averageMilli, current: { averageMilli } };
  const requested = sum([...used.keys()].map((name) => requests.get(name) ?? 0));
  if (requested === 0) return { problem: 'no metrics returned matched known pods' };
  const averageUtilization = Math.trunc((total * 100) / requested);
  return { ratio: averageUtilization / target.utilization, current: { averageUtilization, averageMilli } };
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
