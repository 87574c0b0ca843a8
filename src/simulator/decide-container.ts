import { doublingDelayMs, formatGoDuration, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { asSent } from '@rollkeeper/machinery/kubernetes';
import type { ContainerFacts, ContainerStatus } from './container-status.js';
import { blank, containerIdOf, exited, stopped, waiting } from './container-status.js';
import type { ProbeOutlook } from './decide-probes.js';
import { NO_PULL, decidePull, type ImagePull } from './image-pull.js';
import type { ContainerEnd } from './pod-behaviour.js';

type ReadableStatus = DeepReadonly<ContainerStatus>;

export interface ContainerPlan {
  readonly status: ContainerStatus;
  /** When the container changes by itself, epoch milliseconds. */
  readonly wakeAtMs?: number;
  /** It waits for its image. @default false */
  readonly isPulling?: boolean;
}

/** Backoff of containers that end again: 10 s, doubled up to 5 min. Source: the kubelet's defaults. */
const FIRST_BACKOFF_MS = 10_000;
const MAX_BACKOFF_MS = 300_000;
/** A kubelet looks each second for containers that have ended. Source: genericPlegRelistPeriod in k/k pkg/kubelet. */
const SEEN_WITHIN_MS = 1_000;
/** After a run of this length, the end of a container counts as its first. Source: client-go's flowcontrol.Backoff. */
const BACKOFF_FORGOTTEN_MS = 2 * MAX_BACKOFF_MS;
/** Lifetime of a crashing container. */
const CRASHES_AFTER_MS = 1_000;
/** Why a container waits whose configuration cannot be made. */
const CONFIG_ERROR = 'CreateContainerConfigError';
const CRASH: ContainerEnd = { afterMs: CRASHES_AFTER_MS, exitCode: 1 };

/** The next state of one container. */
export function decideContainer(facts: ContainerFacts): ContainerPlan {
  const { current, restartPolicy = 'Always' } = facts;
  const exitCode = current?.state?.terminated?.exitCode;
  if (current && exitCode !== undefined && !isStartedAgain(restartPolicy, exitCode))
    return { status: asSent<ContainerStatus>(current) };
  switch (facts.behaviour) {
    case 'invalid-image':
      return { status: waiting(facts, 'InvalidImageName', invalidImageMessage(facts.image)) };
    case 'image-pull-error':
      return pullImage(facts, { ...(facts.pull ?? NO_PULL), failures: Infinity }) ?? start(facts);
    default:
      if (facts.isNeverPulled && current?.containerID === undefined)
        return { status: waiting(facts, 'ErrImageNeverPull', neverPullMessage(facts.image)) };
      return (facts.pull && pullImage(facts, facts.pull)) ?? create(facts);
  }
}

/** Whether a container that has ended is started again. */
export function isStartedAgain(restartPolicy: string | undefined, exitCode: number): boolean {
  return restartPolicy === 'OnFailure' ? exitCode !== 0 : restartPolicy !== 'Never';
}

/** The same of a container whose image is there; each start needs what its environment refers to. */
function create(facts: ContainerFacts): ContainerPlan {
  const { configProblem, current, image, nowMs } = facts;
  if (configProblem === undefined || (current?.state?.running && current.image === image))
    return start(facts);
  const untilMs = startsAgainAt(facts);
  if (current && untilMs !== undefined && nowMs < untilMs)
    return { status: asSent<ContainerStatus>(current), wakeAtMs: untilMs };
  return { status: notCreated(facts, configProblem) };
}

/** A container that has run before keeps its number and what it ended with, as in a kubelet's status. */
function notCreated(facts: ContainerFacts, problem: string): ContainerStatus {
  const { current } = facts;
  const status = waiting(facts, CONFIG_ERROR, problem);
  if (current?.containerID === undefined) return status;
  const { containerID, imageID, lastState, state } = asSent<ContainerStatus>(current);
  return { ...status, containerID, imageID, lastState: state?.terminated ? state : lastState };
}

/** The same of a container that can be created. */
function start(facts: ContainerFacts): ContainerPlan {
  switch (facts.behaviour) {
    case 'crash-loop':
      return fail(facts, CRASH);
    case 'never-ready':
      return { status: { ...running(facts).status, ready: false } };
    default:
      if (!facts.end) return runToReady(facts);
      return facts.end.exitCode === 0 && !isAlwaysRestarted(facts)
        ? succeed(facts, facts.end)
        : fail(facts, facts.end);
  }
}

function isAlwaysRestarted({ restartPolicy = 'Always' }: ContainerFacts): boolean {
  return restartPolicy === 'Always';
}

/**
 * Delay before restart number `restarts` + 1. The first is at once: a kubelet notes no backoff before it. Source: doBackOff in k/k
 * pkg/kubelet/kuberuntime.
 */
function crashBackoffMs(restarts: number): number {
  if (restarts <= 0) return 0;
  return doublingDelayMs(restarts - 1, { firstMs: FIRST_BACKOFF_MS, longestMs: MAX_BACKOFF_MS });
}

/** Whether a container ran long enough that its earlier restarts no longer count. */
export function isBackoffForgotten(ranForMs: number): boolean {
  return ranForMs >= BACKOFF_FORGOTTEN_MS;
}

function runToReady(
  facts: ContainerFacts,
  { status, startedMs }: RunningContainer = running(facts),
): ContainerPlan {
  const { canBeReady = true, canStart = true, readinessAt, startsAfterMs = 0 } = facts.probes ?? {};
  const startsAtMs = startedMs + startsAfterMs;
  if (canStart && facts.nowMs < startsAtMs)
    return { status: { ...status, started: false, ready: false }, wakeAtMs: startsAtMs };
  if (!canBeReady || !canStart) return { status: { ...status, started: canStart, ready: false } };
  const readyAtMs = startedMs + facts.readyAfterMs;
  if (readinessAt) return probedReadiness(status, facts.nowMs, readyAtMs, startedMs, readinessAt);
  const isReady = status.ready || facts.nowMs >= readyAtMs;
  if (isReady) return { status: { ...status, started: true, ready: true } };
  return { status: { ...status, started: true }, wakeAtMs: readyAtMs };
}

/** A container whose readiness comes and goes. */
function probedReadiness(
  status: ContainerStatus,
  nowMs: number,
  readyAtMs: number,
  startedMs: number,
  readinessAt: NonNullable<ProbeOutlook['readinessAt']>,
): ContainerPlan {
  if (nowMs < readyAtMs) return { status: { ...status, started: true, ready: false }, wakeAtMs: readyAtMs };
  const { changesAtMs, succeeds } = readinessAt(nowMs - startedMs);
  const next: ContainerStatus = { ...status, started: true, ready: succeeds };
  return changesAtMs === undefined ? { status: next } : { status: next, wakeAtMs: startedMs + changesAtMs };
}

interface RunningContainer {
  readonly status: ContainerStatus;
  readonly startedMs: number;
}

/** The running container; starts it if it is not running yet, runs another image, or has to be restarted. Readiness is unchanged. */
function running(facts: ContainerFacts): RunningContainer {
  const { current, nowMs } = facts;
  const startedAt = current?.state?.running?.startedAt;
  if (current && startedAt !== undefined && current.image === facts.image && !facts.isRestarted) {
    return { status: asSent<ContainerStatus>(current), startedMs: facts.startedMs ?? Date.parse(startedAt) };
  }
  const ended = endOf(current, nowMs);
  const restartCount = (current?.restartCount ?? 0) + (ended ? 1 : 0);
  const status: ContainerStatus = {
    ...blank(facts, restartCount),
    imageID: `simulated://${facts.image}`,
    containerID: containerIdOf(facts, restartCount),
    started: true,
    state: { running: { startedAt: toRfc3339(nowMs) } },
    ...(ended && { lastState: ended }),
  };
  return { status, startedMs: nowMs };
}

/** How a container's run before the next one ended; that of one that still runs ends now. */
function endOf(current: ReadableStatus | undefined, nowMs: number): ContainerStatus['lastState'] {
  if (current?.state?.running) return exited(current, nowMs, 0);
  if (current?.state?.waiting?.reason === CONFIG_ERROR && current.containerID !== undefined)
    return current.lastState;
  return current?.state?.terminated ? current.state : undefined;
}

/** The container completes. */
function succeed(facts: ContainerFacts, { afterMs }: ContainerEnd): ContainerPlan {
  const run = running(facts);
  const endsAtMs = run.startedMs + afterMs;
  if (facts.nowMs >= endsAtMs) return { status: stopped(run.status, facts.nowMs, 0) };
  return runUntil(endsAtMs, runToReady(facts, run));
}

function runUntil(endsAtMs: number, { status, wakeAtMs = endsAtMs }: ContainerPlan): ContainerPlan {
  return { status, wakeAtMs: Math.min(wakeAtMs, endsAtMs) };
}

/** The container fails, and may be restarted after a delay. */
function fail(facts: ContainerFacts, end: ContainerEnd): ContainerPlan {
  const { current, nowMs } = facts;
  const untilMs = startsAgainAt(facts);
  if (current && untilMs !== undefined && nowMs < untilMs)
    return { status: asSent<ContainerStatus>(current), wakeAtMs: untilMs };
  const run = untilMs === undefined ? running(facts) : restarted(facts);
  const endsAtMs = run.startedMs + end.afterMs;
  if (nowMs >= endsAtMs) return afterFailure(facts, run, end.exitCode);
  const shown = end.isReadyBefore ? runToReady(facts, run) : { status: { ...run.status, ready: false } };
  return runUntil(endsAtMs, shown);
}

/** When a container that has ended is started again; undefined if it has not, or is to run another image. */
function startsAgainAt({ current, forgottenRestarts = 0, image }: ContainerFacts): number | undefined {
  if (!current || current.image !== image) return undefined;
  const { terminated, waiting } = current.state ?? {};
  if (terminated) return Date.parse(terminated.finishedAt ?? '') + SEEN_WITHIN_MS;
  const { finishedAt } = current.lastState?.terminated ?? {};
  if (waiting?.reason !== 'CrashLoopBackOff' || finishedAt === undefined) return undefined;
  return Date.parse(finishedAt) + crashBackoffMs(current.restartCount - forgottenRestarts);
}

function restarted(facts: ContainerFacts): RunningContainer {
  const { current, nowMs } = facts;
  const before = current ? asSent<ContainerStatus>(current) : blank(facts, 0);
  const restartCount = before.restartCount + 1;
  const status: ContainerStatus = {
    ...before,
    restartCount,
    containerID: containerIdOf(facts, restartCount),
    started: true,
    state: { running: { startedAt: toRfc3339(nowMs) } },
    lastState: endOf(current, nowMs) ?? before.lastState,
  };
  return { status, startedMs: nowMs };
}

function afterFailure(
  facts: ContainerFacts,
  { startedMs, status }: RunningContainer,
  exitCode: number,
): ContainerPlan {
  const { forgottenRestarts = 0, name, nowMs, podText } = facts;
  const end = stopped(status, nowMs, exitCode);
  if (facts.restartPolicy === 'Never') return { status: end };
  const inARow = isBackoffForgotten(nowMs - startedMs) ? 0 : status.restartCount - forgottenRestarts;
  const backoffMs = crashBackoffMs(inARow);
  if (backoffMs === 0) return { status: end, wakeAtMs: startsAgainAt({ ...facts, current: end }) };
  const message = `back-off ${formatGoDuration(backoffMs)} restarting failed container=${name} pod=${podText}`;
  return {
    status: {
      ...end,
      state: { waiting: { reason: 'CrashLoopBackOff', message } },
      lastState: end.state,
    },
    wakeAtMs: nowMs + backoffMs,
  };
}

/** A container that waits for its image; undefined if that is there, or the container has started before. */
function pullImage(facts: ContainerFacts, pull: ImagePull): ContainerPlan | undefined {
  const { behaviour, current, image, nowMs, pullStartedMs, waitReason = 'ContainerCreating' } = facts;
  const hasStarted = current?.containerID !== undefined && current.image === image;
  if (hasStarted && behaviour !== 'image-pull-error') return undefined;
  const { stage, untilMs } = decidePull(pull, Math.max(nowMs - pullStartedMs, 0));
  const wait = (reason: string, message?: string): ContainerPlan => ({
    status: waiting(facts, reason, message),
    wakeAtMs: pullStartedMs + untilMs,
    isPulling: true,
  });
  const { pullError = 'not found' } = facts;
  const error = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${pullError}`;
  switch (stage) {
    case 'done':
      return undefined;
    case 'pulling':
      return wait(waitReason);
    case 'failed':
      return wait('ErrImagePull', error);
    case 'backing-off':
      return wait('ImagePullBackOff', `Back-off pulling image "${image}": ErrImagePull: ${error}`);
  }
}

function neverPullMessage(image: string): string {
  return `Container image "${image}" is not present with pull policy of Never`;
}

function invalidImageMessage(image: string): string {
  return `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`;
}
