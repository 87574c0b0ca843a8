import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import type { Probe } from '@rollkeeper/machinery/types/core-v1';
import { EXEC_ANNOTATION, answerTo, readExecAnswers } from '@rollkeeper/machinery/exec-answers';
import type { ExecAnswers } from '@rollkeeper/machinery/exec-answers';
import { containerAnnotation, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { failureOfCommand } from './command-end.js';
import type { ProbeOutcome, ProbeResult, ProbeTiming } from './probe-outcome.js';
import { FAILS, decideKill, decideReadiness, decideStartup, parseProbeOutcome } from './probe-outcome.js';

type Container = DeepReadonly<coreV1.Container>;
type ProbeType = 'Readiness' | 'Liveness' | 'Startup';

/**
 * The annotations with the results of a pod's probes, see {@link parseProbeOutcome}; `….CONTAINER`: of that one only.
 */
export const PROBE_ANNOTATIONS: Readonly<Record<ProbeType, string>> = {
  Startup: 'node.rollkeeper.dev/startup-probe',
  Readiness: 'node.rollkeeper.dev/readiness-probe',
  Liveness: 'node.rollkeeper.dev/liveness-probe',
};

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
  /** The probe that kills it, where that is not among the problems from the start. */
  readonly killer?: ProbeProblem;
  /** Time from its start until its startup probe succeeds. @default 0 */
  readonly startsAfterMs?: number;
  /** Whether its readiness probe succeeds `elapsedMs` after its start. @default always, if it can be ready */
  readonly readinessAt?: (elapsedMs: number) => ProbeResult;
  /** The problem of its readiness probe. */
  readonly unready?: ProbeProblem;
  /** The problems that it has from the start. */
  readonly problems: readonly ProbeProblem[];
}

const ALL_WELL: ProbeOutlook = { canBeReady: true, canStart: true, problems: [] };

/**
 * Nothing listens and nothing runs, so a probe succeeds unless an annotation says what it finds, or it is certain to
 * fail: it names a port that its container does not have, or a command that fails by its own text or by the pod's exec
 * annotation. A numeric port proves nothing: a container may listen on ports that it does not list.
 */
export function decideProbes(pod: DeepReadonly<Pod>, container: Container): ProbeOutlook {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (!livenessProbe && !readinessProbe && !startupProbe) return ALL_WELL;
  const startup = look('Startup', startupProbe, pod, container);
  // The other probes do not start before it has succeeded.
  if (startup && startup.outcome === FAILS) {
    const kill = startup.problem.isError ? undefined : decideStartup(FAILS, startup.timing).killedAfterMs;
    return withKill({ canBeReady: false, canStart: false, problems: [startup.problem] }, kill);
  }
  const { killedAfterMs, startsAfterMs } = startup ? decideStartup(startup.outcome, startup.timing) : AT_ONCE;
  if (startup && startsAfterMs === undefined) {
    const killer = killedAfterMs === undefined ? {} : { killer: startup.problem };
    return withKill({ canBeReady: false, canStart: false, problems: [], ...killer }, killedAfterMs);
  }
  const readiness = look('Readiness', readinessProbe, pod, container);
  const liveness = look('Liveness', livenessProbe, pod, container);
  const fromMs = startsAfterMs ?? 0;
  const kill =
    liveness && !liveness.problem.isError ? decideKill(liveness.outcome, liveness.timing, fromMs) : undefined;
  const lasting = [readiness, liveness].filter((one) => one?.outcome === FAILS);
  const comesAndGoes = readiness && readiness.outcome !== FAILS;
  return withKill(
    {
      canBeReady: readiness?.outcome !== FAILS,
      canStart: true,
      problems: lasting.flatMap((one) => (one ? [one.problem] : [])),
      ...(fromMs > 0 && { startsAfterMs: fromMs }),
      ...(comesAndGoes && {
        unready: readiness.problem,
        readinessAt: (elapsedMs: number) =>
          decideReadiness(readiness.outcome, readiness.timing, fromMs, elapsedMs),
      }),
      ...(kill !== undefined && liveness?.outcome !== FAILS && { killer: liveness?.problem }),
    },
    kill,
  );
}

const AT_ONCE = { startsAfterMs: 0, killedAfterMs: undefined } as const;

function withKill(rest: ProbeOutlook, killedAfterMs: number | undefined): ProbeOutlook {
  return killedAfterMs === undefined ? rest : { ...rest, killedAfterMs };
}

/** A probe that does not always succeed. */
interface ProbeLook {
  readonly outcome: ProbeOutcome;
  readonly timing: ProbeTiming;
  readonly problem: ProbeProblem;
}

/** Undefined for a probe that is not there, or always succeeds. */
function look(
  type: ProbeType,
  probe: DeepReadonly<Probe> | undefined,
  pod: DeepReadonly<Pod>,
  container: Container,
): ProbeLook | undefined {
  if (!probe) return undefined;
  const text = containerAnnotation(pod.metadata, PROBE_ANNOTATIONS[type], container.name);
  const outcome = text === undefined ? undefined : parseProbeOutcome(text);
  if (outcome) return { outcome, timing: timingOf(probe), problem: failed(type, outputOf(probe, pod)) };
  const problem = problemOf(type, probe, pod, container);
  return problem && { outcome: FAILS, timing: timingOf(probe), problem };
}

function timingOf({
  failureThreshold = 3,
  initialDelaySeconds = 0,
  periodSeconds = 10,
  successThreshold = 1,
}: DeepReadonly<Probe>): ProbeTiming {
  return {
    initialDelayMs: initialDelaySeconds * 1_000,
    periodMs: periodSeconds * 1_000,
    failureThreshold,
    successThreshold,
  };
}

/** The output that a kubelet gets from a server that is not well. */
function outputOf({ grpc, httpGet, tcpSocket }: DeepReadonly<Probe>, { status }: DeepReadonly<Pod>): string {
  if (httpGet) return 'HTTP probe failed with statuscode: 503';
  if (grpc) return 'service unhealthy (responded with "NOT_SERVING")';
  if (!tcpSocket) return '';
  return `dial tcp ${status?.podIP ?? ''}:${tcpSocket.port}: connect: connection refused`;
}

function problemOf(
  type: ProbeType,
  probe: DeepReadonly<Probe>,
  pod: DeepReadonly<Pod>,
  container: Container,
): ProbeProblem | undefined {
  const port = probe.httpGet?.port ?? probe.tcpSocket?.port;
  if (typeof port === 'string' && !container.ports?.some(({ name }) => name === port)) {
    // A quoted number is a number.
    return /^\d+$/.test(port) ? undefined : errored(type, `couldn't find port: ${port}`);
  }
  const command = probe.exec?.command;
  if (!command?.length) return undefined;
  const known = answersOf(pod, container.name);
  if (!known) return failureOfCommand(command) && failed(type, '');
  const answer = answerTo(known, command);
  if (!answer) return errored(type, `exec: ${stringifyJson(command[0])}: executable file not found in $PATH`);
  return answer.exitCode === 0 ? undefined : failed(type, `${answer.stdout}${answer.stderr}`);
}

/** A malformed annotation is ignored here; `kubectl exec` reports it. */
function answersOf({ metadata }: DeepReadonly<Pod>, container: string): ExecAnswers | undefined {
  const { annotations } = metadata;
  if (!annotations) return undefined;
  const read = readAnswers.get(annotations) ?? new Map<string, ExecAnswers | undefined>();
  readAnswers.set(annotations, read);
  if (!read.has(container)) read.set(container, readAnswersOf(metadata, container));
  return read.get(container);
}

/** By the annotations of one version of a pod, and by container: a probe asks again each second. */
const readAnswers = new WeakMap<object, Map<string, ExecAnswers | undefined>>();

function readAnswersOf(metadata: DeepReadonly<Pod>['metadata'], container: string): ExecAnswers | undefined {
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
