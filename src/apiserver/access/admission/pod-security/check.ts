import type { Container, SecurityContext } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';

/** A pod, or the template of one. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<Decoded<PodSpec>>;
}

/** A violation by a pod, in the words of pod-security-admission. */
export interface Violation {
  readonly reason: string;
  /** The container or the field, and its values. */
  readonly detail: string;
}

export type Check = (pod: CheckedPod) => Violation | undefined;

/** The containers of all sorts, in the order in which they are named. */
export function allContainers(spec: CheckedPod['spec']): readonly Decoded<Container>[] {
  const { containers = [], ephemeralContainers = [], initContainers = [] } = spec;
  return [...initContainers, ...containers, ...ephemeralContainers];
}

/** The names of the containers that `isBad` finds, in their order. */
export function namesOf(
  spec: CheckedPod['spec'],
  isBad: (container: Decoded<Container>) => boolean,
): readonly string[] {
  return allContainers(spec)
    .filter(isBad)
    .map(({ name = '' }) => name);
}

/** Values of a security context: what is set on the pod, and by which containers. */
interface Setters {
  /** `pod`, `container "a"`, `pod and containers "a", "b"`. Empty: nothing sets a bad value. */
  readonly who: string;
  readonly values: readonly string[];
}

/** The parts of a pod that set a bad value in a security context, and the bad values, sorted. */
export function settersOf(
  spec: CheckedPod['spec'],
  badValuesOf: (context: Decoded<SecurityContext>) => readonly string[],
): Setters {
  const values = new Set<string>();
  const isBad = (context: Decoded<SecurityContext> | undefined): boolean => {
    const bad = context ? badValuesOf(context) : [];
    for (const value of bad) values.add(value);
    return bad.length > 0;
  };
  const isPodBad = isBad(spec.securityContext);
  const containers = namesOf(spec, ({ securityContext }) => isBad(securityContext));
  const who = [...(isPodBad ? ['pod'] : []), ...(containers.length > 0 ? [containersNamed(containers)] : [])];
  return { who: who.join(' and '), values: sorted(values) };
}

/** `container "a"`, `containers "a", "b"` */
export function containersNamed(names: readonly string[]): string {
  return `${plural('container', names.length)} ${quoted(names)}`;
}

export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`;
}

/** `"a", "b"`: nothing is escaped. */
export function quoted(items: readonly string[]): string {
  return `"${items.join('", "')}"`;
}

export function sorted(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].sort();
}
