import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import type { EventNote } from '@rollkeeper/client/events';
import { containerAnnotation, isSidecar } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { ContainerStatus } from './container-status.js';
import { stopped } from './container-status.js';
import { parseGoDurationMs } from '@rollkeeper/machinery/clock';
import { EXIT_CODE_OF_KILLED, restartsAlways } from './pod-behaviour.js';

/** How long a container's `preStop` takes, as `5s`; `fails`: it fails at once. */
export const PRE_STOP_ANNOTATION = 'node.rollkeeper.dev/pre-stop';
/** How long a container takes to stop after its `preStop`, as `5s`; `never`: it is killed in the end. */
export const STOPS_AFTER_ANNOTATION = 'node.rollkeeper.dev/stops-after';

type ReadablePod = DeepReadonly<Pod>;
type Container = DeepReadonly<coreV1.Container>;

interface StopFacts {
  readonly graceMs: number;
  /** How long containers take that say nothing of it. */
  readonly terminationDelayMs: number;
}

/** The end of one container, by name, milliseconds from the order to stop. */
export interface ContainerStop {
  readonly name: string;
  readonly afterMs: number;
  readonly exitCode: number;
}

/** The time that is left after a `preStop` that took all of it. Source: minimumGracePeriodInSeconds of the kubelet. */
const LEAST_GRACE_MS = 2_000;
/** A server exits cleanly on SIGTERM; a container meant to complete has not done so. */
const EXIT_CODE_OF_TERMINATED = 143;

/**
 * When the containers of a pod stop: all at once, and each sidecar when what was started after it has stopped; killed
 * when the time is over.
 */
export function decideStops(pod: ReadablePod, facts: StopFacts): readonly ContainerStop[] {
  const mains = pod.spec.containers.map((container) => stopOf(pod, container, facts));
  let beforeMs = Math.max(0, ...mains.map(({ afterMs }) => afterMs));
  const sidecars: ContainerStop[] = [];
  for (const container of (pod.spec.initContainers ?? []).filter(isSidecar).toReversed()) {
    const graceMs = Math.max(facts.graceMs - beforeMs, 0);
    const stop = stopOf(pod, container, { ...facts, graceMs });
    beforeMs += stop.afterMs;
    sidecars.push({ ...stop, afterMs: beforeMs });
  }
  return [...mains, ...sidecars];
}

function stopOf(
  pod: ReadablePod,
  container: Container,
  { graceMs, terminationDelayMs }: StopFacts,
): ContainerStop {
  const hookMs = Math.min(preStopMs(pod, container), graceMs);
  const leftMs = hookMs > 0 ? Math.max(graceMs - hookMs, LEAST_GRACE_MS) : graceMs;
  const asked = containerAnnotation(pod.metadata, STOPS_AFTER_ANNOTATION, container.name)?.trim() ?? '';
  const takesMs = asked === 'never' ? Infinity : (parseGoDurationMs(asked) ?? terminationDelayMs);
  const own = restartsAlways(pod) ? 0 : EXIT_CODE_OF_TERMINATED;
  return {
    name: container.name,
    afterMs: hookMs + Math.min(takesMs, leftMs),
    exitCode: asked !== '' && takesMs > leftMs ? EXIT_CODE_OF_KILLED : own,
  };
}

function preStopMs(pod: ReadablePod, { lifecycle, name }: Container): number {
  if (!lifecycle?.preStop) return 0;
  return parseGoDurationMs(containerAnnotation(pod.metadata, PRE_STOP_ANNOTATION, name) ?? '') ?? 0;
}

/** The containers at `nowMs`, after the order to stop at `orderedMs`. Those that stopped before keep their end. */
export function stoppedBy(
  statuses: readonly ContainerStatus[],
  stops: readonly ContainerStop[],
  orderedMs: number,
  nowMs: number,
): ContainerStatus[] {
  return statuses.map((status) => {
    const stop = stops.find(({ name }) => name === status.name);
    if (!status.state?.running || !stop || nowMs < orderedMs + stop.afterMs) return status;
    return stopped(status, nowMs, stop.exitCode);
  });
}

/** The Events of a kubelet when it stops the running containers of a pod. */
export function decideStopEvents(pod: ReadablePod): readonly EventNote[] {
  const { containers, initContainers = [] } = pod.spec;
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const running = [...containerStatuses, ...initContainerStatuses].filter(({ state }) => state?.running);
  return running.flatMap(({ name }): EventNote[] => {
    const killing: EventNote = { type: 'Normal', reason: 'Killing', message: `Stopping container ${name}` };
    const hook = [...containers, ...initContainers].find((one) => one.name === name)?.lifecycle?.preStop;
    const fails = containerAnnotation(pod.metadata, PRE_STOP_ANNOTATION, name)?.trim() === 'fails';
    if (!hook || !fails) return [killing];
    return [killing, { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed' }];
  });
}
