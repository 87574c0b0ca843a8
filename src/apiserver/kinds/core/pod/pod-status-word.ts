import type { ContainerStatus } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, DecodedObject, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished } from '@rollkeeper/machinery/kubernetes';

/** The words of `kubectl get pods` for a pod. */
export interface PodSummary {
  /** `Running`, `Terminating`, `Init:0/1`, `CrashLoopBackOff` … */
  readonly word: string;
  readonly readyContainers: number;
  readonly totalContainers: number;
  readonly restarts: number;
  /** When a container last ended, if one has. */
  readonly lastRestart?: string;
}

type State = NonNullable<Decoded<ContainerStatus>['state']>;

/** Counted while going over the containers. */
interface Tally {
  word: string;
  ready: number;
  restarts: number;
  lastRestart?: string;
}

/** The rules are those of `printPod` in pkg/printers/internalversion/printers.go. */
export function summarizePod(pod: DecodedObject<Pod>): PodSummary {
  const status = pod.status ?? {};
  const phase = status.phase ?? '';
  const tally: Tally = { word: status.reason ?? phase, ready: 0, restarts: 0 };
  if (isSchedulingGated(pod)) tally.word = 'SchedulingGated';
  const isInitializing = tallyInitContainers(pod, tally);
  if (!isInitializing || hasCondition(pod, 'Initialized')) tallyContainers(pod, tally);
  const sidecars = (pod.spec?.initContainers ?? []).filter((one) => one.restartPolicy === 'Always').length;
  return {
    word: terminationWord(pod) ?? tally.word,
    readyContainers: tally.ready,
    totalContainers: (pod.spec?.containers?.length ?? 0) + sidecars,
    restarts: tally.restarts,
    ...(tally.lastRestart !== undefined && { lastRestart: tally.lastRestart }),
  };
}

function terminationWord(pod: DecodedObject<Pod>): string | undefined {
  if (!pod.metadata.deletionTimestamp) return undefined;
  if (pod.status?.reason === 'NodeLost') return 'Unknown';
  return isPodFinished(pod) ? undefined : 'Terminating';
}

/** @returns whether an init container is still to be waited for */
function tallyInitContainers(pod: DecodedObject<Pod>, tally: Tally): boolean {
  const specs = pod.spec?.initContainers ?? [];
  const statuses = pod.status?.initContainerStatuses ?? [];
  const sidecars = sidecarNames(pod);
  for (const [index, container] of statuses.entries()) {
    countRestarts(container, tally);
    if (container.state?.terminated?.exitCode === 0) continue;
    if (sidecars.has(container.name) && container.started) {
      if (container.ready) tally.ready++;
      continue;
    }
    tally.word = initWord(container.state ?? {}, index, specs.length);
    return true;
  }
  return false;
}

function initWord({ terminated, waiting }: State, index: number, total: number): string {
  if (terminated) return `Init:${terminatedWord(terminated)}`;
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
  return `Init:${index}/${total}`;
}

function terminatedWord(terminated: NonNullable<State['terminated']>): string {
  if (terminated.reason) return terminated.reason;
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`;
}

function tallyContainers(pod: DecodedObject<Pod>, tally: Tally): void {
  // Restarts of plain init containers no longer matter; those of sidecars do.
  const sidecars = sidecarNames(pod);
  tally.restarts = 0;
  delete tally.lastRestart;
  for (const status of pod.status?.initContainerStatuses ?? []) {
    if (sidecars.has(status.name)) countRestarts(status, tally);
  }
  let isRunning = false;
  for (const container of [...(pod.status?.containerStatuses ?? [])].reverse()) {
    countRestarts(container, tally);
    const { waiting, terminated, running } = container.state ?? {};
    if (waiting?.reason) tally.word = waiting.reason;
    else if (terminated) tally.word = terminatedWord(terminated);
    else if (container.ready && running) {
      isRunning = true;
      tally.ready++;
    }
  }
  if (tally.word === 'Completed' && isRunning) {
    tally.word = hasCondition(pod, 'Ready') ? 'Running' : 'NotReady';
  }
}

function sidecarNames(pod: DecodedObject<Pod>): ReadonlySet<string | undefined> {
  const containers = pod.spec?.initContainers ?? [];
  return new Set(containers.filter((one) => one.restartPolicy === 'Always').map(({ name }) => name));
}

function countRestarts(container: Decoded<ContainerStatus>, tally: Tally): void {
  tally.restarts += container.restartCount ?? 0;
  const ended = container.lastState?.terminated?.finishedAt;
  if (ended && (!tally.lastRestart || ended > tally.lastRestart)) tally.lastRestart = ended;
}

function hasCondition(pod: DecodedObject<Pod>, type: string): boolean {
  return pod.status?.conditions?.some((one) => one.type === type && one.status === 'True') ?? false;
}

function isSchedulingGated(pod: DecodedObject<Pod>): boolean {
  return (
    pod.status?.conditions?.some((one) => one.type === 'PodScheduled' && one.reason === 'SchedulingGated') ??
    false
  );
}
