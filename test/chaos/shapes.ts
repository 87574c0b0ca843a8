import type { Deployment, PodSpec } from '../../src/machinery/kubernetes/index.js';
import { SESSIONS } from './mesh.js';
import type { PolicyNeed } from './policy-world.js';

/**
 * The shape of the Deployment of one name. If one pod follows the other, waiting for each would make a rollout longer
 * than the checks allow: so there are few pods, and they need no time to be ready.
 */
export interface Shape {
  readonly strategy: Deployment['spec']['strategy'];
  readonly mostReplicas: number;
  readonly minReadySeconds: number;
  /** Annotations under `rollkeeper.dev/`, which each change of the template sets again. @default none */
  readonly policies?: Readonly<Record<string, string>>;
  /** How many of its images cannot be pulled, from 0 to 1. @default 0 */
  readonly broken?: number;
  /** The share of its changes that are of cpu alone, from 0 to 1. @default 0 */
  readonly resized?: number;
  readonly need?: PolicyNeed;
  /** Whether a mesh injects sidecars into its pods. @default false */
  readonly meshed?: boolean;
  /** How many of its versions have pods that the node rejects, from 0 to 1. @default 0 */
  readonly rejected?: number;
  /** Rules for the scheduler, until everything has to come to rest. @default none */
  readonly placement?: Pick<PodSpec, 'affinity' | 'topologySpreadConstraints'>;
  /** It is of one release with the Deployment before it, and its rollouts begin after those of that one. @default false */
  readonly follows?: boolean;
}

const rolling = (maxSurge: number, maxUnavailable: number): Shape['strategy'] => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge, maxUnavailable },
});
/** With it a rollout needs no room for a pod more. */
export const ROOM_FIRST = rolling(1, 1);
function twoWhole(): Shape['strategy'] {
  return { type: 'RollingUpdate', rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } };
}

/** Longer than a fault moves the clock of a replica forward, so nothing that waits so long ends in a run. */
const LONGEST = '24h';

/** Counts only pods with the same label `app`, which names the Deployment. */
const OWN_PODS = { matchLabelKeys: ['app'], labelSelector: {} };
/** No two pods of a Deployment on one node: of its largest size no pod more fits on the three nodes. */
const APART: PodSpec['affinity'] = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ ...OWN_PODS, topologyKey: 'kubernetes.io/hostname' }],
  },
};
/** Soft, because two of the nodes take few pods. */
const SPREAD: Shape['placement'] = {
  topologySpreadConstraints: [
    {
      ...OWN_PODS,
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'ScheduleAnyway',
    },
  ],
};

export const SHAPES: readonly Shape[] = [
  { strategy: undefined, mostReplicas: 8, minReadySeconds: 0 },
  { strategy: rolling(1, 0), mostReplicas: 3, minReadySeconds: 0 },
  { strategy: rolling(0, 1), mostReplicas: 3, minReadySeconds: 0 },
  { strategy: rolling(2, 2), mostReplicas: 8, minReadySeconds: 0 },
  { strategy: undefined, mostReplicas: 4, minReadySeconds: 1 },
  {
    ...{ strategy: undefined, mostReplicas: 6, minReadySeconds: 0 },
    policies: { steps: '1; approve; 50%; wait 1s' },
  },
  {
    ...{ strategy: rolling(1, 0), mostReplicas: 3, minReadySeconds: 0 },
    policies: { steps: 'experiment 2s: baseline 1, canary 2; 50%; wait 1s' },
  },
  {
    ...{ strategy: rolling(1, 1), mostReplicas: 6, minReadySeconds: 0, broken: 0.4 },
    // No other cause: the faults of a run make good images late as well.
    policies: { 'on-failure': 'rollback', 'fail-after': '2s', 'failure-causes': 'image-pull' },
  },
  {
    ...{ strategy: undefined, mostReplicas: 6, minReadySeconds: 0, resized: 0.7 },
    policies: { resize: 'in-place' },
  },
  {
    ...{ strategy: rolling(1, 1), mostReplicas: 6, minReadySeconds: 0 },
    policies: { zones: 'one-by-one' },
  },
  {
    ...{ strategy: rolling(2, 1), mostReplicas: 6, minReadySeconds: 0 },
    policies: { 'pod-replacement': 'terminated' },
  },
  {
    ...{ strategy: rolling(0, 2), mostReplicas: 6, minReadySeconds: 0, need: 'budget' },
    policies: { 'disruption-budgets': 'respect' },
  },
  {
    ...{ strategy: twoWhole(), mostReplicas: 4, minReadySeconds: 0, need: 'service' },
    policies: { strategy: 'blue-green', 'auto-promote': 'true', 'scale-down-delay': '1s' },
  },
  {
    ...{ strategy: twoWhole(), mostReplicas: 4, minReadySeconds: 0, need: 'route' },
    policies: {
      steps: '50%; header x-canary=a; weight 20%; approve; 100%; mirror 10%; weight 60%; wait 1s',
      'traffic-drain': '1s',
      'traffic-sticky': '1h',
    },
  },
  { strategy: rolling(1, 1), mostReplicas: 4, minReadySeconds: 0 },
  {
    ...{ strategy: rolling(1, 1), mostReplicas: 4, minReadySeconds: 0, follows: true },
    policies: { 'progress-after': '2s' },
  },
  {
    ...{ strategy: rolling(1, 1), mostReplicas: 6, minReadySeconds: 0 },
    policies: { autoscaling: 'hold', steps: '1; approve; 50%; wait 1s' },
  },
  {
    ...{ strategy: undefined, mostReplicas: 6, minReadySeconds: 0 },
    policies: { autoscaling: 'floor', steps: '50%; wait 2s' },
  },
  {
    ...{ strategy: rolling(1, 1), mostReplicas: 4, minReadySeconds: 0, rejected: 0.4 },
    policies: { 'failed-pods': `keep 1, ${LONGEST}`, 'progress-after': '1s' },
  },
  {
    ...{ strategy: rolling(1, 0), mostReplicas: 3, minReadySeconds: 0, placement: { affinity: APART } },
    policies: { surge: 'if-it-fits' },
  },
  {
    ...{ strategy: rolling(1, 0), mostReplicas: 6, minReadySeconds: 0, placement: SPREAD },
    policies: { spread: 'after-rollout', rebalance: '1' },
  },
  {
    ...{ strategy: rolling(1, 0), mostReplicas: 3, minReadySeconds: 0, need: 'service' },
    policies: { 'keep-old': `until "annotation ${SESSIONS} == 0", at most ${LONGEST}, at most 2` },
  },
  {
    ...{ strategy: rolling(0, 2), mostReplicas: 6, minReadySeconds: 0, need: 'budget', meshed: true },
    policies: { 'restart-on': 'admission', 'disruption-budgets': 'respect' },
  },
  {
    ...{ strategy: undefined, mostReplicas: 4, minReadySeconds: 0, need: 'service', meshed: true },
    policies: {
      'keep-old': `until "annotation ${SESSIONS} == 0", at most ${LONGEST}, at most 3`,
      'restart-on': 'admission',
    },
  },
];
