import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import { isSidecar, asSent } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { ResizePlan } from './decide-resize.js';
import { restartedByResize, withResources } from './decide-resize.js';
import type { ContainerFacts, ContainerStatus } from './container-status.js';
import type { ContainerPlan } from './decide-container.js';
import { decideContainer } from './decide-container.js';
import { stopped } from './container-status.js';
import { decideProbes } from './decide-probes.js';
import type { MissingSources } from './decide-sources.js';
import { NO_PULL, imagePullOf } from './image-pull.js';
import { hasBegun } from './pod-conditions.js';
import type { ContainerEnd } from './pod-behaviour.js';
import {
  behaviourOf,
  containerBehaviour,
  containerEnd,
  EXIT_CODE_OF_KILLED,
  initContainerEnd,
  postStartEnd,
  readyAfterMs,
  sidecarEnd,
} from './pod-behaviour.js';

type ReadablePod = DeepReadonly<Pod>;
type Container = DeepReadonly<coreV1.Container>;

export interface ContainersFacts {
  readonly nowMs: number;
  readonly readyDelayMs: number;
  /** Exact starts of containers by containerID; the API only keeps whole seconds. */
  readonly startedMs?: ReadonlyMap<string, number>;
  /** The plan of the pod's resize. @default there is none */
  readonly resize?: ResizePlan;
  /** When the node began to pull images, by {@link pullKey}. @default with the pod, or with its wait for them */
  readonly pullStartedMs?: ReadonlyMap<string, number>;
  /** How long a pull takes on this node. @default no time */
  readonly pullsAfterMs?: number;
  /** Whether the node has an image already. @default it has none that takes time */
  readonly hasImage?: (image: string) => boolean;
  /** Whether a node of which the images are known does not have one. @default no node's images are known */
  readonly lacksImage?: (image: string) => boolean;
  /** Objects that the pod refers to and that do not exist. @default none */
  readonly missing?: MissingSources;
  /** By container, restarts up to which its backoff is forgotten. */
  readonly forgottenRestarts?: ReadonlyMap<string, number>;
}

/** One pull of one container. */
export function pullKey(container: string, image: string): string {
  return `${container} ${image}`;
}

interface ContainersPlan {
  readonly initContainers: ContainerStatus[];
  readonly containers: ContainerStatus[];
  /** Containers that were added while the pod runs. */
  readonly ephemeralContainers: ContainerStatus[];
  /** All init containers have completed, or started if they are sidecars. */
  readonly isInitialized: boolean;
  /** When one of them changes by itself, epoch milliseconds. */
  readonly wakeAtMs?: number;
  /** The pulls that they wait for. */
  readonly pulls: readonly string[];
}

/**
 * The next states of all containers of a pod: init containers one after another, each once the previous one has
 * succeeded or, if it is a sidecar, has started; then all others at once.
 */
export function decideContainers(
  pod: ReadablePod,
  podStartedMs: number,
  facts: ContainersFacts,
): ContainersPlan {
  const { resize = { step: 'none' } } = facts;
  const restarted = restartedByResize(pod, resize);
  const { name, namespace, uid = '' } = pod.metadata;
  const hasInit = (pod.spec.initContainers ?? []).length > 0;
  const factsOf = (container: Container, current: ReadableStatus | undefined): ContainerFacts => ({
    name: container.name,
    image: container.image ?? '',
    behaviour: containerBehaviour(undefined, container.image ?? ''),
    current,
    podUid: uid,
    podText: `${name}_${namespace}(${uid})`,
    nowMs: facts.nowMs,
    pullStartedMs: pullStartOf(container, current, podStartedMs, facts),
    ...pullOf(pod, container, facts),
    configProblem: facts.missing?.configOf.get(container.name) ?? nonRootProblem(pod, container),
    isNeverPulled: container.imagePullPolicy === 'Never' && facts.lacksImage?.(container.image ?? ''),
    waitReason: hasInit ? 'PodInitializing' : 'ContainerCreating',
    forgottenRestarts: facts.forgottenRestarts?.get(container.name),
    readyAfterMs: readyAfterMs(pod, facts.readyDelayMs),
    restartPolicy: pod.spec.restartPolicy,
    startedMs: facts.startedMs?.get(current?.containerID ?? ''),
    isRestarted: restarted.has(container.name),
  });
  const init = decideInitContainers(pod, factsOf);
  const plans = pod.spec.containers.map((container) => {
    const current = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
    const own = factsOf(container, current);
    return init.isDone ? decideMainContainer(pod, container, own) : waitsForInit(own);
  });
  const added = (pod.spec.ephemeralContainers ?? []).map((container) =>
    decideEphemeralContainer(pod, container, factsOf),
  );
  const wakes = [...init.plans, ...plans, ...added].flatMap(({ wakeAtMs }) =>
    wakeAtMs === undefined ? [] : [wakeAtMs],
  );
  const pulling = [...init.plans, ...plans, ...added].filter(({ isPulling }) => isPulling);
  return {
    initContainers: init.plans.map(({ status }, index) => {
      const container = pod.spec.initContainers?.[index];
      const before = pod.status?.initContainerStatuses?.find(({ name }) => name === status.name);
      return container && isSidecar(container) ? withResources(status, container, before, resize) : status;
    }),
    containers: plans.map(({ status }, index) => {
      const before = pod.status?.containerStatuses?.find(({ name }) => name === status.name);
      return withResources(status, pod.spec.containers[index]!, before, resize);
    }),
    ephemeralContainers: added.map(({ status }) => status),
    isInitialized: init.isDone,
    pulls: pulling.map(({ status }) => pullKey(status.name, status.image)),
    ...(wakes.length > 0 && { wakeAtMs: Math.min(...wakes) }),
  };
}

type ReadableStatus = DeepReadonly<ContainerStatus>;

/** Whether a container need not wait for its image. With `Always`, the registry is asked each time. */
function isPresent({ image = '', imagePullPolicy }: Container, { hasImage }: ContainersFacts): boolean {
  return imagePullPolicy !== 'Always' && (hasImage?.(image) ?? false);
}

/** A registry says the same of a private image without credentials as of one that does not exist. */
const PULL_DENIED =
  'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed';

function pullOf(
  pod: ReadablePod,
  container: Container,
  facts: ContainersFacts,
): Pick<ContainerFacts, 'pull' | 'pullError'> {
  if (isPresent(container, facts)) return { pull: NO_PULL };
  const pull = imagePullOf(pod, container, facts.pullsAfterMs);
  if (!facts.missing?.cannotPull) return { pull };
  return { pull: { ...pull, failures: Infinity }, pullError: PULL_DENIED };
}

/** The states of the containers of a pod whose volumes are not mounted. */
export function waitForMounts(pod: ReadablePod): ContainersPlan {
  const { containers, ephemeralContainers = [], initContainers = [] } = pod.spec;
  const reason = initContainers.length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const wait = ({ image = '', name }: Container): ContainerStatus => ({
    ...{ name, image, imageID: '', ready: false, started: false, restartCount: 0, lastState: {} },
    state: { waiting: { reason } },
  });
  return {
    initContainers: initContainers.map(wait),
    containers: containers.map(wait),
    ephemeralContainers: ephemeralContainers.map(wait),
    isInitialized: initContainers.length === 0,
    pulls: [],
  };
}

/** A container that was not pulling yet begins now. */
function pullStartOf(
  { image = '', name }: Container,
  current: ReadableStatus | undefined,
  podStartedMs: number,
  { nowMs, pullStartedMs }: ContainersFacts,
): number {
  const known = pullStartedMs?.get(pullKey(name, image));
  if (known !== undefined) return known;
  const { reason } = current?.state?.waiting ?? {};
  const waitsForOthers = reason === 'PodInitializing' || current?.state?.running !== undefined;
  return waitsForOthers ? nowMs : podStartedMs;
}

function decideMainContainer(pod: ReadablePod, container: Container, facts: ContainerFacts): ContainerPlan {
  const behaviour = containerBehaviour(behaviourOf(pod), facts.image);
  return decideContainer({ ...facts, behaviour, ...probed(pod, container, containerEnd(pod, container)) });
}

/** Begins at once, beside what else runs, and is never restarted: it has no probes, and is never ready. */
function decideEphemeralContainer(
  pod: ReadablePod,
  container: DeepReadonly<coreV1.EphemeralContainer>,
  factsOf: (container: Container, current: ReadableStatus | undefined) => ContainerFacts,
): ContainerPlan {
  const current = pod.status?.ephemeralContainerStatuses?.find(({ name }) => name === container.name);
  const facts = factsOf(container, current);
  const { status, ...plan } = decideContainer({
    ...facts,
    restartPolicy: 'Never',
    end: containerEnd(pod, container),
  });
  return { ...plan, status: { ...status, ready: false, started: false } };
}

/** Applies the probes to a container: one that they kill does not reach its own end. */
function probed(
  pod: ReadablePod,
  container: Container,
  end: ContainerEnd | undefined,
): Pick<ContainerFacts, 'probes' | 'end'> {
  const hookEnd = postStartEnd(container);
  if (hookEnd && hookEnd.afterMs <= (end?.afterMs ?? Infinity)) return { end: hookEnd };
  const { killedAfterMs = Infinity, ...probes } = decideProbes(pod, container);
  if (killedAfterMs >= (end?.afterMs ?? Infinity)) return { probes, end };
  return { probes, end: { afterMs: killedAfterMs, exitCode: EXIT_CODE_OF_KILLED, isReadyBefore: true } };
}

interface InitPlan {
  readonly plans: readonly ContainerPlan[];
  readonly isDone: boolean;
}

function decideInitContainers(
  pod: ReadablePod,
  factsOf: (container: Container, current: ReadableStatus | undefined) => ContainerFacts,
): InitPlan {
  const isBeyond = hasBegun(pod.status?.containerStatuses ?? []);
  let isDone = true;
  const plans = (pod.spec.initContainers ?? []).map((container) => {
    const current = pod.status?.initContainerStatuses?.find(({ name }) => name === container.name);
    const facts = factsOf(container, current);
    if (!isDone) return waitsForInit(facts);
    const plan = isSidecar(container)
      ? decideSidecar(pod, container, facts)
      : decideInitContainer(pod, container, facts);
    // A sidecar that is restarted does not take the pod back to its beginning.
    isDone = isSidecar(container)
      ? isBeyond || plan.status.started === true
      : plan.status.state?.terminated?.exitCode === 0;
    return plan;
  });
  return { plans, isDone };
}

/** Runs beside the others, and is restarted regardless of the pod's restart policy. */
function decideSidecar(pod: ReadablePod, container: Container, facts: ContainerFacts): ContainerPlan {
  const end = sidecarEnd(pod, container);
  return decideContainer({ ...facts, restartPolicy: 'Always', ...probed(pod, container, end) });
}

/** Runs to completion, and is restarted after failures unless the restart policy is Never. */
function decideInitContainer(pod: ReadablePod, container: Container, facts: ContainerFacts): ContainerPlan {
  const { behaviour, restartPolicy } = facts;
  const plan = decideContainer({
    ...facts,
    behaviour: behaviour === 'never-ready' ? 'run' : behaviour,
    restartPolicy: restartPolicy === 'Never' ? restartPolicy : 'OnFailure',
    end: initContainerEnd(pod, container),
  });
  const exitCode = plan.status.state?.terminated?.exitCode;
  return {
    ...plan,
    status: { ...plan.status, started: plan.status.state?.running !== undefined, ready: exitCode === 0 },
  };
}

function waitsForInit({ current, image, name }: ContainerFacts): ContainerPlan {
  if (current) return { status: asSent<ContainerStatus>(current) };
  const state = { waiting: { reason: 'PodInitializing' } };
  return {
    status: { name, image, imageID: '', ready: false, started: false, restartCount: 0, lastState: {}, state },
  };
}

/** Stops the sidecars when all other containers have ended. */
export function stopSidecars(statuses: readonly ContainerStatus[], nowMs: number): ContainerStatus[] {
  return statuses.map((status) => (status.state?.running ? stopped(status, nowMs, 0) : status));
}

/**
 * Why a container may not run as the user that it asks for. What user an image has is not known here. Source:
 * verifyRunAsNonRoot in k/k pkg/kubelet/kuberuntime/security_context.go.
 */
function nonRootProblem(
  { metadata, spec }: DeepReadonly<Pod>,
  { name, securityContext = {} }: DeepReadonly<coreV1.Container>,
): string | undefined {
  const { runAsNonRoot = spec.securityContext?.runAsNonRoot } = securityContext;
  const { runAsUser = spec.securityContext?.runAsUser } = securityContext;
  if (runAsNonRoot !== true || runAsUser === undefined || Number(runAsUser) !== 0) return undefined;
  const pod = `${metadata.name}_${metadata.namespace}(${metadata.uid ?? ''})`;
  return `container's runAsUser breaks non-root policy (pod: "${pod}", container: ${name})`;
}
