import type { Deployment } from '../../src/machinery/kubernetes/index.js';
import { SESSIONS } from '../chaos/mesh.js';

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
  /** The objects beside it: a Service with its name, or a route with that name and its two Services. @default nothing */
  readonly need?: 'service' | 'route';
  /** Whether a mesh injects sidecars into its pods. @default false */
  readonly meshed?: boolean;
  /** Whether its steps may wait for a person until they are taken away. @default false */
  readonly holds?: boolean;
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

/** More policies, which only the seeds whose `Plan.world` is `policies` have. */
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
    ...{ strategy: rolling('100%', 0), mostReplicas: 4, minReadySeconds: 0, need: 'service' },
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

/** Longer than wall clocks of replicas differ. */
const DRAIN = { 'rollkeeper.dev/traffic-drain': '14s' };

/** Policies about requests and experiments, which only the seeds whose `Plan.world` is `requests` have. */
const OF_REQUESTS: readonly Shape[] = [
  {
    ...{ strategy: rolling('100%', 0), mostReplicas: 3, minReadySeconds: 0, need: 'route' },
    policies: {
      ...{
        'rollkeeper.dev/steps': 'header x-canary=a; weight 20%; wait 1s; mirror 10%; weight 60%; wait 1s',
      },
      ...{ ...DRAIN, 'rollkeeper.dev/traffic-sticky': '1h' },
    },
  },
  {
    ...{ strategy: rolling(1, 1), mostReplicas: 4, minReadySeconds: 0 },
    policies: {
      'rollkeeper.dev/steps': 'experiment 2s: baseline 1, canary 2; 50%; experiment 1s: canary 1',
    },
  },
  {
    ...{ strategy: rolling('100%', 0), mostReplicas: 3, minReadySeconds: 0, need: 'route' },
    ...{ absent: 0.4, holds: true },
    policies: {
      ...{ 'rollkeeper.dev/steps': '1; weight 10%; approve; 100%; weight 50%', ...DRAIN },
      ...{ 'rollkeeper.dev/on-failure': 'rollback', 'rollkeeper.dev/fail-after': '2s' },
      ...{ 'rollkeeper.dev/failure-causes': 'image-pull', 'rollkeeper.dev/traffic-stable': 'dynamic' },
    },
  },
  {
    ...{ strategy: rolling(2, 1), mostReplicas: 4, minReadySeconds: 0, holds: true },
    policies: { 'rollkeeper.dev/steps': 'experiment 3s: baseline 1, canary 1, check slo; 50%; check slo' },
  },
];

/** Policies about how long pods live, which only the seeds whose `Plan.world` is `lifetimes` have. */
const OF_LIFETIMES: readonly Shape[] = [
  {
    ...{ strategy: rolling(1, 0), mostReplicas: 3, minReadySeconds: 0, need: 'service', meshed: true },
    policies: { 'rollkeeper.dev/keep-old': `until "annotation ${SESSIONS} == 0", at most 1d, at most 2` },
  },
  {
    ...{ strategy: rolling(1, 1), mostReplicas: 4, minReadySeconds: 0, need: 'service', meshed: true },
    policies: {
      // Longer than wall clocks of replicas differ.
      'rollkeeper.dev/keep-old': 'until "http :8080/sessions == 0", at most 50s, at most 3',
      'rollkeeper.dev/restart-on': 'admission',
    },
  },
  {
    ...{ strategy: rolling(2, 1), mostReplicas: 6, minReadySeconds: 1, meshed: true },
    policies: { 'rollkeeper.dev/restart-on': 'admission', 'rollkeeper.dev/steps': '1; 50%; wait 1s' },
  },
  {
    ...{ strategy: rolling(0, 1), mostReplicas: 3, minReadySeconds: 0, need: 'service', broken: 0.2 },
    policies: {
      'rollkeeper.dev/keep-old': 'until "metric :9090/metrics sessions == 0", at most 1d, at most 1',
    },
  },
  {
    ...{ strategy: undefined, mostReplicas: 4, minReadySeconds: 0, need: 'service', meshed: true },
    policies: {
      'rollkeeper.dev/keep-old': 'until "http :8080/stats .open.sessions == 0", at most 1d, at most 3',
      'rollkeeper.dev/restart-on': 'admission',
    },
  },
];

/** The names of Deployments with one of the first shapes. */
export const PLAIN_NAMES: readonly string[] = ['load-0', 'load-1', 'load-2', 'load-3', 'load-4', 'load-5'];
/** The names of Deployments with further policies. */
export const POLICY_NAMES: readonly string[] = UNDER_POLICIES.map((_, index) => `policy-${index}`);
/** The names of Deployments with policies about requests and experiments. */
export const REQUEST_NAMES: readonly string[] = OF_REQUESTS.map((_, index) => `request-${index}`);

/** The names of Deployments with policies about how long pods live. */
export const LIFETIME_NAMES: readonly string[] = OF_LIFETIMES.map((_, index) => `lifetime-${index}`);

/** The names among these of Deployments that need something beside them. */
export function namesThatNeed(need: Shape['need'], names: readonly string[]): readonly string[] {
  return names.filter((name) => shapeOf(name).need === need);
}

/** The shape of the Deployment with this name. */
export function shapeOf(name: string): Shape {
  const [kind, number] = name.split('-');
  const shapes =
    { policy: UNDER_POLICIES, request: OF_REQUESTS, lifetime: OF_LIFETIMES }[kind ?? ''] ?? SHAPES;
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
