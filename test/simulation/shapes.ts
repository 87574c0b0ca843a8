import type { Deployment } from '../../src/machinery/kubernetes/index.js';

/** A kind of Deployment that users have. */
export interface Shape {
  readonly strategy: Deployment['spec']['strategy'];
  readonly mostReplicas: number;
  readonly minReadySeconds: number;
  /** Annotations. */
  readonly policies?: Readonly<Record<string, string>>;
  /** How many of its images never become ready, from 0 to 1. */
  readonly broken?: number;
  /** How many of its images cannot be pulled, from 0 to 1. */
  readonly absent?: number;
  /** Whether there is a Service with its name. @default false */
  readonly hasService?: boolean;
}

const rolling = (maxSurge: number | string, maxUnavailable: number): Shape['strategy'] => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge, maxUnavailable },
});

const SHAPES: readonly Shape[] = [
  { strategy: undefined, mostReplicas: 6, minReadySeconds: 0 },
  { strategy: rolling(1, 0), mostReplicas: 3, minReadySeconds: 1 },
  { strategy: rolling(0, 1), mostReplicas: 3, minReadySeconds: 0, broken: 0.2 },
  {
    ...{ strategy: rolling(2, 1), mostReplicas: 6, minReadySeconds: 0 },
    policies: { 'rollkeeper.dev/steps': '1; 50%; wait 1s' },
  },
];

/** More policies, which only the seeds with `Plan.policies` have. */
const UNDER_POLICIES: readonly Shape[] = [
  {
    ...{ strategy: rolling(1, 1), mostReplicas: 4, minReadySeconds: 0, absent: 0.4 },
    policies: {
      'rollkeeper.dev/on-failure': 'rollback',
      'rollkeeper.dev/fail-after': '2s',
      // No other cause: the faults of a run make good images late as well.
      'rollkeeper.dev/failure-causes': 'image-pull',
    },
  },
  {
    ...{ strategy: rolling(2, 1), mostReplicas: 6, minReadySeconds: 0 },
    policies: { 'rollkeeper.dev/pod-replacement': 'terminated' },
  },
  {
    ...{ strategy: rolling(1, 1), mostReplicas: 6, minReadySeconds: 0 },
    policies: { 'rollkeeper.dev/zones': 'one-by-one' },
  },
  {
    ...{ strategy: rolling('100%', 0), mostReplicas: 4, minReadySeconds: 0, hasService: true },
    policies: {
      'rollkeeper.dev/strategy': 'blue-green',
      'rollkeeper.dev/auto-promote': 'true',
      'rollkeeper.dev/scale-down-delay': '1s',
    },
  },
  {
    ...{ strategy: rolling(1, 1), mostReplicas: 4, minReadySeconds: 0 },
    policies: { 'rollkeeper.dev/failed-pods': 'keep 1' },
  },
  {
    ...{ strategy: rolling(2, 1), mostReplicas: 6, minReadySeconds: 0 },
    policies: { 'rollkeeper.dev/autoscaling': 'floor' },
  },
];

/** The names of Deployments with one of the first shapes. */
export const PLAIN_NAMES: readonly string[] = ['load-0', 'load-1', 'load-2', 'load-3', 'load-4', 'load-5'];
/** The names of Deployments with further policies. */
export const POLICY_NAMES: readonly string[] = UNDER_POLICIES.map((_, index) => `policy-${index}`);

/** The names of Deployments that have a Service of the same name. */
export const SERVED_NAMES: readonly string[] = POLICY_NAMES.filter((name) => shapeOf(name).hasService);

/** The shape of the Deployment with this name. */
export function shapeOf(name: string): Shape {
  const [kind, number] = name.split('-');
  const shapes = kind === 'policy' ? UNDER_POLICIES : SHAPES;
  return shapes[Number(number) % shapes.length]!;
}

/** @param chance from 0 to 1: whether it works */
export function imageWith(image: string, { absent = 0, broken = 0 }: Shape, chance: number): string {
  if (chance < broken) return `${image}-broken`;
  return chance < absent ? `${image}-absent` : image;
}

/** Whether no pod with this image ever becomes ready. */
export function cannotBecomeReady(image: string): boolean {
  return image.includes('broken') || image.includes('absent');
}
