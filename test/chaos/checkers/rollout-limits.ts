import type { Deployment } from '../../../src/machinery/kubernetes/index.js';

/** Between how many pods a rolling update may be. */
export interface RolloutLimits {
  readonly ceiling: number;
  readonly floor: number;
}

export function limitsOf({ spec }: Deployment): RolloutLimits {
  const wanted = spec.replicas ?? 1;
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec.strategy?.rollingUpdate ?? {};
  const surge = amountOf(maxSurge, wanted, Math.ceil);
  const unavailable = amountOf(maxUnavailable, wanted, Math.floor);
  const floor = wanted - (surge === 0 && unavailable === 0 ? 1 : unavailable);
  return { ceiling: wanted + surge, floor };
}

function amountOf(value: number | string, wanted: number, round: (amount: number) => number): number {
  return typeof value === 'number' ? value : round((Number.parseFloat(value) / 100) * wanted);
}
