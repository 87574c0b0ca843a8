import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import { containerAnnotation, ownField } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { failureOfCommand } from './command-end.js';
import type { CommandEnd } from './command-end.js';
import { parseGoDurationMs } from '@rollkeeper/machinery/clock';
import { judgeImage } from './image-reference.js';

/** Makes a simulated node let a pod fail. Set on the pod, usually in a Deployment's template. */
export const BEHAVIOUR_ANNOTATION = 'node.rollkeeper.dev/behaviour';
/** Time from a container's start until it is ready, as `5s`, `1m30s` or `200ms`. */
export const READY_AFTER_ANNOTATION = 'node.rollkeeper.dev/ready-after';

/** Exit code of the containers of a pod that ends; `…/exit-code.CONTAINER`: of that one only. */
export const EXIT_CODE_ANNOTATION = 'node.rollkeeper.dev/exit-code';
/** How long the containers of a pod that ends run, as {@link READY_AFTER_ANNOTATION}; `never`: they keep running. */
export const ENDS_AFTER_ANNOTATION = 'node.rollkeeper.dev/ends-after';

export const POD_BEHAVIOURS = ['image-pull-error', 'crash-loop', 'never-ready', 'reject', 'slow'] as const;
type PodBehaviour = (typeof POD_BEHAVIOURS)[number];

/** `slow` without a `ready-after` annotation. */
const SLOW_READY_AFTER_MS = 10_000;

/** The behaviour of one container. */
export type ContainerBehaviour = 'run' | 'never-ready' | 'image-pull-error' | 'invalid-image' | 'crash-loop';

export function behaviourOf(pod: DeepReadonly<Pod>): PodBehaviour | undefined {
  const asked = pod.metadata.annotations?.[BEHAVIOUR_ANNOTATION];
  return POD_BEHAVIOURS.find((behaviour) => behaviour === asked);
}

/** A malformed image takes precedence, as on a real node; then the annotation, then the image's words. */
export function containerBehaviour(behaviour: PodBehaviour | undefined, image: string): ContainerBehaviour {
  const verdict = judgeImage(image);
  if (verdict === 'malformed') return 'invalid-image';
  if (behaviour === 'image-pull-error' || behaviour === 'crash-loop' || behaviour === 'never-ready') {
    return behaviour;
  }
  if (verdict === 'broken') return 'image-pull-error';
  if (verdict === 'never-ready') return verdict;
  return verdict === 'crashing' ? 'crash-loop' : 'run';
}

/** Milliseconds from a container's start until it is ready. */
export function readyAfterMs(pod: DeepReadonly<Pod>, defaultMs: number): number {
  const text = pod.metadata.annotations?.[READY_AFTER_ANNOTATION];
  const asked = text === undefined ? undefined : parseGoDurationMs(text);
  return asked ?? (behaviourOf(pod) === 'slow' ? SLOW_READY_AFTER_MS : defaultMs);
}

/** How a container ends by itself. */
export interface ContainerEnd {
  readonly afterMs: number;
  readonly exitCode: number;
  /** Whether it may be ready until then. @default false */
  readonly isReadyBefore?: boolean;
}

/** Default without an annotation: soon, but late enough to be seen running. */
const ENDS_AFTER_MS = 1_000;

/**
 * Containers that are not always restarted are meant to complete, and by default succeed. Others keep running, unless
 * their command is certain to fail. Undefined if they keep running.
 */
export function containerEnd(pod: DeepReadonly<Pod>, container: Container): ContainerEnd | undefined {
  const failure = failureOfCommand(argvOf(container));
  const asked = containerAnnotation(pod.metadata, ENDS_AFTER_ANNOTATION, container.name)?.trim() ?? '';
  if (asked === 'never') return undefined;
  const code = containerAnnotation(pod.metadata, EXIT_CODE_ANNOTATION, container.name);
  if (restartsAlways(pod)) return restartedEnd(parseGoDurationMs(asked), code, failure);
  if (failure && code === undefined && asked === '') return endOf(failure);
  return {
    afterMs: parseGoDurationMs(asked) ?? ENDS_AFTER_MS,
    exitCode: code === undefined ? (failure?.exitCode ?? 0) : parseExitCode(code),
  };
}

/** One that is always restarted ends where an annotation gives it a time, or its command is certain to fail. */
function restartedEnd(
  afterMs: number | undefined,
  code: string | undefined,
  failure: CommandEnd | undefined,
): ContainerEnd | undefined {
  if (afterMs === undefined) return failure && endOf(failure);
  const exitCode = code === undefined ? (failure?.exitCode ?? 0) : parseExitCode(code);
  return endOf({ afterMs, exitCode });
}

/** A sidecar keeps running unless an annotation of its own gives it an end. */
export function sidecarEnd(pod: DeepReadonly<Pod>, container: Container): ContainerEnd | undefined {
  const { annotations = {} } = pod.metadata;
  const asked = ownField(annotations, `${ENDS_AFTER_ANNOTATION}.${container.name}`)?.trim() ?? '';
  const code = ownField(annotations, `${EXIT_CODE_ANNOTATION}.${container.name}`);
  return restartedEnd(parseGoDurationMs(asked), code, undefined);
}

/** Init containers complete immediately and successfully, unless an annotation or their command says otherwise. */
export function initContainerEnd(pod: DeepReadonly<Pod>, container: Container): ContainerEnd | undefined {
  const { annotations = {} } = pod.metadata;
  const asked = ownField(annotations, `${ENDS_AFTER_ANNOTATION}.${container.name}`)?.trim() ?? '';
  if (asked === 'never') return undefined;
  const code = ownField(annotations, `${EXIT_CODE_ANNOTATION}.${container.name}`);
  const failure = failureOfCommand(argvOf(container));
  return {
    afterMs: parseGoDurationMs(asked) ?? failure?.afterMs ?? 0,
    exitCode: code === undefined ? (failure?.exitCode ?? 0) : parseExitCode(code),
  };
}

/** Exit code of a container that was killed with SIGKILL. */
export const EXIT_CODE_OF_KILLED = 137;

/** The end of a container whose `postStart` hook is certain to fail: it is killed for that. */
export function postStartEnd({ lifecycle }: Container): ContainerEnd | undefined {
  const failure = failureOfCommand(lifecycle?.postStart?.exec?.command ?? []);
  return failure && { ...endOf({ ...failure, exitCode: EXIT_CODE_OF_KILLED }), isReadyBefore: false };
}

/** Late enough to be seen running, as other ends are. */
function endOf({ afterMs, exitCode }: CommandEnd): ContainerEnd {
  return { afterMs: Math.max(afterMs, ENDS_AFTER_MS), exitCode, isReadyBefore: afterMs > ENDS_AFTER_MS };
}

type Container = DeepReadonly<coreV1.Container>;

function argvOf({ args = [], command = [] }: Container): readonly string[] {
  return [...command, ...args];
}

export function restartsAlways({ spec }: DeepReadonly<Pod>): boolean {
  return (spec.restartPolicy ?? 'Always') === 'Always';
}

/** 0 if malformed. */
function parseExitCode(text: string): number {
  return /^\d{1,3}$/.test(text.trim()) ? Math.min(Number(text), 255) : 0;
}
