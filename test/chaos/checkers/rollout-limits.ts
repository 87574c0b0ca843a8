import type { Deployment, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';

const P = 'rollkeeper.dev/';
const SIZE_AT_START = `${P}size-at-start`;

/** Between how many pods a rolling update may be. */
export interface RolloutLimits {
  readonly ceiling: number;
  readonly floor: number;
}

/** @param owned its ReplicaSets, one of which may have a note of a size that counts in place of the spec's */
export function limitsOf(deployment: Deployment, owned: readonly ReplicaSet[]): RolloutLimits {
  const limits = sizesOf(deployment, owned).map((wanted) => limitsAt(deployment, wanted));
  return {
    ceiling: Math.max(...limits.map(({ ceiling }) => ceiling)),
    floor: Math.min(...limits.map(({ floor }) => floor)),
  };
}

/** The sizes that may count: that of the spec, and those that `autoscaling` has noted. */
export function sizesOf({ metadata, spec }: Deployment, owned: readonly ReplicaSet[]): readonly number[] {
  const isHeld = metadata.annotations?.[`${P}autoscaling`] !== undefined;
  const notes = isHeld ? owned.flatMap((set) => noteOfStart(set) ?? []) : [];
  return [spec.replicas ?? 1, ...notes];
}

/** The size that the Deployment had when the rollout of this version began, as `autoscaling` notes it. */
export function noteOfStart({ metadata }: ReplicaSet): number | undefined {
  const text = metadata.annotations?.[SIZE_AT_START];
  return text === undefined ? undefined : Number(text);
}

function limitsAt({ metadata, spec }: Deployment, wanted: number): RolloutLimits {
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec.strategy?.rollingUpdate ?? {};
  const surge = amountOf(maxSurge, wanted, Math.ceil);
  const unavailable = amountOf(maxUnavailable, wanted, Math.floor);
  const makesRoom =
    metadata.annotations?.[`${P}surge`] === 'if-it-fits' || (surge === 0 && unavailable === 0);
  return { ceiling: wanted + surge, floor: wanted - Math.max(unavailable, makesRoom ? 1 : 0) };
}

function amountOf(value: number | string, wanted: number, round: (amount: number) => number): number {
  return typeof value === 'number' ? value : round((Number.parseFloat(value) / 100) * wanted);
}
