import type {
  HPAScalingRules,
  HorizontalPodAutoscalerBehavior,
} from '@rollkeeper/machinery/types/autoscaling-v2';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';

/** Default stabilization window for decreases. */
const DEFAULT_DOWN_WINDOW_MS = 300_000;
/** The longest allowed window, and longer than any policy period. */
const REMEMBERED_MS = 3_600_000;

/** A number of pods, or a change of it, with its time. */
export interface Stamped {
  readonly replicas: number;
  readonly atMs: number;
}

/** An autoscaler's memory. */
export interface History {
  /** Past recommendations of its metrics. */
  readonly recommendations: readonly Stamped[];
  /** Past changes: positive for added pods. */
  readonly changes: readonly Stamped[];
}

export function remember(entries: readonly Stamped[], replicas: number, nowMs: number): Stamped[] {
  const kept = entries.filter(({ atMs }) => atMs >= nowMs - REMEMBERED_MS);
  return [...kept, { replicas, atMs: nowMs }];
}

export interface Bounds {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly behavior?: DeepReadonly<HorizontalPodAutoscalerBehavior>;
}

interface Verdict {
  readonly reason: string;
  readonly message: string;
}

interface DecidedSize {
  readonly replicas: number;
  readonly ableToScale: Verdict;
  readonly limited: Verdict & { readonly isLimited: boolean };
}

const STABILIZED = {
  up: {
    reason: 'ScaleUpStabilized',
    message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
  },
  down: {
    reason: 'ScaleDownStabilized',
    message:
      'recent recommendations were higher than current one, applying the highest recent recommendation',
  },
};
const READY: Verdict = {
  reason: 'ReadyForNewScale',
  message: 'recommended size matches current size',
};
const WITHIN: Verdict = {
  reason: 'DesiredWithinRange',
  message: 'the desired count is within the acceptable range',
};
const LIMITS = {
  ScaleUpLimit: 'the desired replica count is increasing faster than the maximum scale rate',
  ScaleDownLimit: 'the desired replica count is decreasing faster than the maximum scale rate',
  TooManyReplicas: 'the desired replica count is more than the maximum replica count',
  TooFewReplicas: 'the desired replica count is less than the minimum replica count',
};

/**
 * The new number of pods if the metrics ask for `wanted`: limited by recent recommendations, by the rates of the
 * policies, and by the bounds. Source: `normalizeDesiredReplicas`, `normalizeDesiredReplicasWithBehaviors` in k/k
 * pkg/controller/podautoscaler.
 */
export function decideSize(
  wanted: number,
  current: number,
  bounds: Bounds,
  history: History,
  nowMs: number,
): DecidedSize {
  const stable = stabilized(wanted, current, bounds, history, nowMs);
  const ableToScale =
    stable === wanted ? READY : wanted >= current && bounds.behavior ? STABILIZED.up : STABILIZED.down;
  const { reason, replicas } = limited(stable, current, bounds, history, nowMs);
  if (replicas === stable) return { replicas, ableToScale, limited: { ...WITHIN, isLimited: false } };
  return { replicas, ableToScale, limited: { reason, message: LIMITS[reason], isLimited: true } };
}

/** Without a behaviour only decreases are stabilized. */
function stabilized(
  wanted: number,
  current: number,
  { behavior }: Bounds,
  { recommendations }: History,
  nowMs: number,
): number {
  const within = (windowMs: number): number[] =>
    recommendations.filter(({ atMs }) => atMs > nowMs - windowMs).map(({ replicas }) => replicas);
  const highest = Math.max(wanted, ...within(windowMsOf(behavior?.scaleDown, DEFAULT_DOWN_WINDOW_MS)));
  if (!behavior) return highest;
  const lowest = Math.min(wanted, ...within(windowMsOf(behavior.scaleUp, 0)));
  return Math.min(Math.max(current, lowest), highest);
}

interface Limited {
  readonly replicas: number;
  readonly reason: keyof typeof LIMITS;
}

function limited(
  wanted: number,
  current: number,
  { behavior, maxReplicas, minReplicas }: Bounds,
  { changes }: History,
  nowMs: number,
): Limited {
  if (!behavior) {
    const fastest = Math.max(2 * current, 4);
    if (wanted < minReplicas) return { replicas: minReplicas, reason: 'TooFewReplicas' };
    return atMost(wanted, maxReplicas, fastest);
  }
  if (wanted > current)
    return atMost(
      wanted,
      maxReplicas,
      Math.max(current, rateLimit('up', behavior.scaleUp, current, changes, nowMs)),
    );
  const slowest = Math.min(current, rateLimit('down', behavior.scaleDown, current, changes, nowMs));
  if (wanted === current) return { replicas: wanted, reason: 'TooFewReplicas' };
  return minReplicas < slowest
    ? { replicas: Math.max(wanted, slowest), reason: 'ScaleDownLimit' }
    : { replicas: Math.max(wanted, minReplicas), reason: 'TooFewReplicas' };
}

function atMost(wanted: number, maxReplicas: number, fastest: number): Limited {
  return maxReplicas > fastest
    ? { replicas: Math.min(wanted, fastest), reason: 'ScaleUpLimit' }
    : { replicas: Math.min(wanted, maxReplicas), reason: 'TooManyReplicas' };
}

/** The limit set by the policies, given the changes within their periods. */
function rateLimit(
  direction: 'up' | 'down',
  rules: DeepReadonly<HPAScalingRules> | undefined,
  current: number,
  changes: readonly Stamped[],
  nowMs: number,
): number {
  if (rules?.selectPolicy === 'Disabled') return current;
  const sign = direction === 'up' ? 1 : -1;
  const limits = (rules?.policies ?? []).map(({ periodSeconds, type, value }) => {
    const sinceMs = nowMs - periodSeconds * 1000;
    const changed = changes
      .filter(({ atMs }) => atMs > sinceMs)
      .reduce((sum, { replicas }) => sum + replicas, 0);
    const before = current - changed;
    if (type === 'Pods') return before + sign * value;
    const limit = before * (1 + (sign * value) / 100);
    return direction === 'up' ? Math.ceil(limit) : Math.trunc(limit);
  });
  // The policy with the greatest change wins, unless `Min` is selected.
  return (rules?.selectPolicy === 'Min') === (direction === 'up') ? Math.min(...limits) : Math.max(...limits);
}

function windowMsOf(rules: DeepReadonly<HPAScalingRules> | undefined, defaultMs: number): number {
  const { stabilizationWindowSeconds: seconds } = rules ?? {};
  return seconds === undefined ? defaultMs : seconds * 1000;
}
