import type { Container } from '../generated/types/core-v1.js';
import type { Decoded } from './decoded.js';
import type { PodSpec } from './objects.js';
import type { Amounts } from './quantity.js';
import { formatQuantity, nanosOf, parseQuantity } from './quantity.js';

/** Combines by name; a missing amount is zero. Written in the format of the first operand present. */
function combine(a: Amounts, b: Amounts, compute: (a: bigint, b: bigint) => bigint): Amounts {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  const result: Record<string, string> = {};
  for (const name of names) {
    const format =
      [a[name], b[name]].map((amount) => parseQuantity(String(amount))).find((one) => one?.nanos)?.format ??
      'DecimalSI';
    result[name] = formatQuantity({ nanos: compute(nanosOf(a[name]), nanosOf(b[name])), format });
  }
  return result;
}

export function addAmounts(...all: readonly Amounts[]): Amounts {
  return all.reduce((a, b) => combine(a, b, (one, other) => one + other), {});
}

export function subtractAmounts(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (one, other) => one - other);
}

export function greaterAmounts(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (one, other) => (one > other ? one : other));
}

/** The sum of the names that all of them have. */
export function sumOfCommon(all: readonly Amounts[]): Amounts {
  const total = addAmounts(...all);
  return Object.fromEntries(
    Object.entries(total).filter(([name]) => all.every((amounts) => amounts[name] !== undefined)),
  );
}

/** The amounts that `isWanted` selects. */
export function pickAmounts(
  amounts: Amounts,
  isWanted: (name: string, amount: string | number) => boolean,
): Amounts {
  return Object.fromEntries(Object.entries(amounts).filter(([name, amount]) => isWanted(name, amount)));
}

/**
 * The amounts that the containers of a pod need at any time: the sum of all containers and the sidecars (init
 * containers that keep running). If one of the other init containers needs more, with the sidecars started before it,
 * its sum counts instead. Source: AggregateContainerRequests in k8s.io/component-helpers/resource.
 */
export function containerAmounts(
  spec: Decoded<Pick<PodSpec, 'containers' | 'initContainers'>>,
  part: 'requests' | 'limits',
): Amounts {
  const of = ({ resources }: Decoded<Container>): Amounts => resources?.[part] ?? {};
  let lasting: Amounts = {};
  let most: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    const isLasting = container.restartPolicy === 'Always';
    const during = addAmounts(of(container), lasting);
    if (isLasting) lasting = during;
    most = greaterAmounts(most, during);
  }
  const running = addAmounts(...(spec.containers ?? []).map(of), lasting);
  return greaterAmounts(running, most);
}

/** Resources that a pod may say itself what it needs of, in place of its containers. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}
