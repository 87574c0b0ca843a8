import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { asSent } from '@rollkeeper/machinery/kubernetes';
import type { ProbeOutlook } from './decide-probes.js';
import type { ImagePull } from './image-pull.js';
import type { ContainerBehaviour, ContainerEnd } from './pod-behaviour.js';

export type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
type ReadableStatus = DeepReadonly<ContainerStatus>;

export interface ContainerFacts {
  readonly name: string;
  readonly image: string;
  readonly behaviour: ContainerBehaviour;
  readonly current: ReadableStatus | undefined;
  /** Prefix of container ids, unique to the pod. */
  readonly podUid: string;
  /** As a kubelet prints it: `name_namespace(uid)`. */
  readonly podText: string;
  readonly nowMs: number;
  /** When the node began to pull the image; when it would begin, if it has not. */
  readonly pullStartedMs: number;
  /** @default at once */
  readonly pull?: ImagePull;
  /** The image is not on the node, and may not be pulled. @default false */
  readonly isNeverPulled?: boolean;
  /** The registry's answer to a pull that fails. @default the image is not found */
  readonly pullError?: string;
  /** Why the container cannot be created: what its environment refers to is missing, for example. @default it can */
  readonly configProblem?: string;
  /** The reason of a container that waits for its first pull. @default 'ContainerCreating' */
  readonly waitReason?: string;
  readonly readyAfterMs: number;
  /** @default it keeps running */
  readonly end?: ContainerEnd;
  /** Outcome of its probes. @default all succeed */
  readonly probes?: Pick<ProbeOutlook, 'canBeReady' | 'canStart' | 'startsAfterMs' | 'readinessAt'>;
  /** The pod's restart policy. @default 'Always' */
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  /** It is stopped and started again. @default false */
  readonly isRestarted?: boolean;
  /** When the running container started, if known more precisely than to the second. */
  readonly startedMs?: number;
  /** Restarts up to which the backoff is forgotten. @default 0 */
  readonly forgottenRestarts?: number;
}

/** A container that waits; how it ended before is kept. */
export function waiting(facts: ContainerFacts, reason: string, message?: string): ContainerStatus {
  const { current, nowMs } = facts;
  const lastState = current?.state?.running ? exited(current, nowMs, 0) : current?.lastState;
  return {
    ...blank(facts, current?.restartCount ?? 0),
    state: { waiting: { reason, ...(message !== undefined && { message }) } },
    ...(lastState ? { lastState } : {}),
  };
}

/** A container of which nothing has happened yet. */
export function blank({ name, image }: ContainerFacts, restartCount: number): ContainerStatus {
  return { name, image, imageID: '', ready: false, started: false, restartCount, lastState: {} };
}

/** The container after its final stop. */
export function stopped(status: ReadableStatus, nowMs: number, exitCode: number): ContainerStatus {
  const state = exited(status, nowMs, exitCode);
  return { ...asSent<ContainerStatus>(status), ready: false, started: false, state };
}

/** The state of a container that has ended. */
export function exited(
  status: ReadableStatus,
  nowMs: number,
  exitCode: number,
): NonNullable<ContainerStatus['lastState']> {
  return {
    terminated: {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt: status.state?.running?.startedAt ?? toRfc3339(nowMs),
      finishedAt: toRfc3339(nowMs),
      ...(status.containerID === undefined ? {} : { containerID: status.containerID }),
    },
  };
}

/** Deterministic, so that a repeated decision is no change. */
export function containerIdOf({ podUid, name }: ContainerFacts, restartCount: number): string {
  return `simulated://${podUid}/${name}/${restartCount}`;
}
