import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import type { Probe } from '@rollkeeper/machinery/types/core-v1';
import { EXEC_ANNOTATION, answerTo, readExecAnswers } from '@rollkeeper/machinery/exec-answers';
import type { ExecAnswers } from '@rollkeeper/machinery/exec-answers';
import { containerAnnotation, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { failureOfCommand } from './command-end.js';

type Container = DeepReadonly<coreV1.Container>;
export type ProbeType = 'Readiness' | 'Liveness' | 'Startup';

/** Why a probe does not succeed. */
export interface ProbeProblem {
  readonly type: ProbeType;
  /** In the kubelet's words. */
  readonly message: string;
  /**
   * The probe itself cannot run: a kubelet discards such a result, so it neither kills the container nor lets it start.
   */
  readonly isError: boolean;
}

/** The outcome of a container's probes. */
export interface ProbeOutlook {
  /** No probe prevents readiness. */
  readonly canBeReady: boolean;
  /** Its startup probe lets it start. */
  readonly canStart: boolean;
  /** Time from its start until a probe kills it. @default never */
  readonly killedAfterMs?: number;
  readonly problems: readonly ProbeProblem[];
}

const ALL_WELL: ProbeOutlook = { canBeReady: true, canStart: true, problems: [] };

/**
 * Nothing listens and nothing runs, so a probe succeeds unless it is certain to fail: it names a port that its
 * container does not have, or a command that fails by its own text or by the pod's exec annotation. A numeric port
 * proves nothing: a container may listen on ports that it does not list.
 */
export function decideProbes(pod: DeepReadonly<Pod>, container: Container): ProbeOutlook {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (!livenessProbe && !readinessProbe && !startupProbe) return ALL_WELL;
  const startup = problemOf('Startup', startupProbe, pod, container);
  // The other probes do not start before it has succeeded.
  if (startup) {
    const kill = startup.isError ? undefined : timeToKill(startupProbe);
    return outlook({ canBeReady: false, canStart: false, problems: [startup] }, kill);
  }
  const readiness = problemOf('Readiness', readinessProbe, pod, container);
  const liveness = problemOf('Liveness', livenessProbe, pod, container);
  const problems = [readiness, liveness].filter((problem) => problem !== undefined);
  const kill = liveness && !liveness.isError ? timeToKill(livenessProbe) : undefined;
  return outlook({ canBeReady: readiness === undefined, canStart: true, problems }, kill);
}

function outlook(rest: ProbeOutlook, killedAfterMs: number | undefined): ProbeOutlook {
  return killedAfterMs === undefined ? rest : { ...rest, killedAfterMs };
}

/** The first failure comes after the initial delay, and the decisive one `failureThreshold` - 1 periods later. */
function timeToKill({
  failureThreshold = 3,
  initialDelaySeconds = 0,
  periodSeconds = 10,
}: DeepReadonly<Probe> = {}): number {
  return Math.max(initialDelaySeconds + (failureThreshold - 1) * periodSeconds, 1) * 1_000;
}

function problemOf(
  type: ProbeType,
  probe: DeepReadonly<Probe> | undefined,
  pod: DeepReadonly<Pod>,
  container: Container,
): ProbeProblem | undefined {
  const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
  if (typeof port === 'string' && !container.ports?.some(({ name }) => name === port)) {
    // A quoted number is a number.
    return /^\d+$/.test(port) ? undefined : errored(type, `couldn't find port: ${port}`);
  }
  const command = probe?.exec?.command;
  if (!command?.length) return undefined;
  const known = answersOf(pod, container.name);
  if (!known) return failureOfCommand(command) && failed(type, '');
  const answer = answerTo(known, command);
  if (!answer) return errored(type, `exec: ${stringifyJson(command[0])}: executable file not found in $PATH`);
  return answer.exitCode === 0 ? undefined : failed(type, `${answer.stdout}${answer.stderr}`);
}

/** A malformed annotation is ignored here; `kubectl exec` reports it. */
function answersOf({ metadata }: DeepReadonly<Pod>, container: string): ExecAnswers | undefined {
  const text = containerAnnotation(metadata, EXEC_ANNOTATION, container);
  if (text === undefined) return undefined;
  try {
    return readExecAnswers(text);
  } catch {
    return undefined;
  }
}

function failed(type: ProbeType, output: string): ProbeProblem {
  return { type, isError: false, message: `${type} probe failed: ${output.trim()}` };
}

function errored(type: ProbeType, problem: string): ProbeProblem {
  return { type, isError: true, message: `${type} probe errored and resulted in unknown state: ${problem}` };
}
