import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { asSent } from '@rollkeeper/machinery/kubernetes';
import type { ContainerFacts, ContainerStatus } from './decide-container.js';

type ReadableStatus = DeepReadonly<ContainerStatus>;

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
