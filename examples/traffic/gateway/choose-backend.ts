import type { RandomSource } from 'rollkeeper';
import type { RouteFilter, WeightedBackendRef } from './gateway-api.ts';

/**
 * One of the backends, each in proportion to its weight; 1 without one. Undefined where no weight is above 0: then the
 * gateway answers 500, as the Gateway API wants it.
 */
export function chooseBackend(
  backends: readonly WeightedBackendRef[],
  random: RandomSource,
): WeightedBackendRef | undefined {
  const total = backends.reduce((sum, { weight = 1 }) => sum + weight, 0);
  let rest = random.next() * total;
  for (const backend of backends) {
    const { weight = 1 } = backend;
    if (rest < weight) return backend;
    rest -= weight;
  }
  return undefined;
}

/** Whether this request is one of the share that a RequestMirror filter copies. */
export function isMirrored({ requestMirror: mirror }: RouteFilter, random: RandomSource): boolean {
  if (!mirror) return false;
  const { numerator, denominator = 100 } = mirror.fraction ?? { numerator: mirror.percent ?? 100 };
  return random.next() * denominator < numerator;
}

/**
 * Numbers as even as they can be: multiples of the golden ratio without their whole part. The share of the first N
 * requests differs from the one that was asked for by a few in N only. Chance differs by the root of N: of 20 000
 * requests at 50 %, one time in 200 by more than 1 %, so that a test with real connections, whose order is chance, would
 * fail now and then without a fault.
 */
export class EvenSpread implements RandomSource {
  private count = 0;

  next(): number {
    this.count += 1;
    return (this.count * 0.618_033_988_749_894_9) % 1;
  }
}
