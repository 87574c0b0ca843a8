import type { DeepReadonly, LabelMatcher } from '@rollkeeper/machinery/kubernetes';
import {
  LabelSelectorSyntaxError,
  Pod,
  ReplicaSet,
  keyOf,
  parseLabelSelector,
  sameJson,
} from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { TerminalError, errorMessage } from '@rollkeeper/machinery/errors';
import type { ApiClient, Condition, ReconcileContext } from '@rollkeeper/runtime';
import {
  NAMESPACE_INDEX,
  apiStatusOf,
  setCondition,
  updateStatus,
  HorizontalPodAutoscaler,
} from '@rollkeeper/runtime';
import { WHOLE_PODS, clusterController, parseTimeMs, servingPods } from '../shared/index.js';
import type { DecidedMetrics } from './decide-metrics.js';
import { decideMetrics } from './decide-metrics.js';
import type { CustomReading, Where } from './custom-metric.js';
import { compileCustomMetric, readCustomMetric } from './custom-metric.js';
import type { Problem } from './decide-replicas.js';
import { isProblem, toleranceOf } from './decide-replicas.js';
import type { History } from './decide-size.js';
import { decideSize, remember } from './decide-size.js';
import type { PodMetrics } from './read-metric.js';
import { readPodMetrics, unfetched } from './read-metric.js';
import type { ScaleTarget } from './scale-target.js';
import { TargetSelectors } from './scale-target.js';
import { readTarget, writeReplicas } from './scale-target.js';

/**
 * Sync interval of each autoscaler, milliseconds; kube-controller-manager's `--horizontal-pod-autoscaler-sync-period`.
 */
const SYNC_PERIOD_MS = 15_000;

type Autoscaler = DeepReadonly<HorizontalPodAutoscaler>;
type Status = NonNullable<HorizontalPodAutoscaler['status']>;
type Sync = ReconcileContext<HorizontalPodAutoscaler>;

/**
 * Scales any target with a scale subresource so that its pods' resource usage meets the metrics' targets. Its memory is
 * lost with the leader; the next leader starts from the current number, and so only removes pods after a full window.
 * Source: k/k pkg/controller/podautoscaler.
 */
export const horizontalPodAutoscalerController = clusterController<HorizontalPodAutoscaler>(
  {
    name: 'horizontal-pod-autoscaler',
    for: HorizontalPodAutoscaler,
    aliases: ['horizontalpodautoscaling'],
    eventSource: 'horizontal-pod-autoscaler',
    trims: WHOLE_PODS,
    // The name of kube-controller-manager's.
    serviceAccount: 'horizontal-pod-autoscaler',
  },
  () => {
    const histories = new Map<string, History>();
    const selectors = new TargetSelectors();
    return {
      whileLeading: () => () => {
        histories.clear();
        selectors.clear();
      },
      predicates: [(event) => event.type !== 'modified' || !sameJson(event.old.spec, event.object.spec)],
      reads: [Pod, ReplicaSet],
      async reconcile({ key }, sync) {
        const { object: autoscaler } = sync;
        if (!autoscaler) {
          histories.delete(key);
          selectors.delete(key);
          return;
        }
        const newForMs = untilFirstLookMs(autoscaler, sync.clock.now());
        if (newForMs > 0 && !histories.has(key)) return { requeueAfterMs: newForMs };
        const outcome = await new Look(autoscaler, histories.get(key), selectors, sync).run();
        if (outcome.history) histories.set(key, outcome.history);
        await updateStatus(sync.client, HorizontalPodAutoscaler, autoscaler, outcome.status);
        return { requeueAfterMs: SYNC_PERIOD_MS };
      },
    };
  },
);

/** One that has just been created waits for a period like all others. */
function untilFirstLookMs({ metadata }: Autoscaler, nowMs: number): number {
  const createdMs = parseTimeMs(metadata.creationTimestamp);
  return createdMs === undefined ? 0 : createdMs + SYNC_PERIOD_MS - nowMs;
}

/** Reads the metrics of the types `Pods`, `Object` and `External`, by their place. */
async function readCustomMetrics(
  client: ApiClient,
  specs: NonNullable<Autoscaler['spec']['metrics']>,
  where: Where,
): Promise<ReadonlyMap<number, CustomReading | Problem>> {
  const readings = new Map<number, CustomReading | Problem>();
  for (const [index, spec] of specs.entries()) {
    const metric = compileCustomMetric(spec);
    if (metric && !isProblem(metric)) readings.set(index, await readCustomMetric(client, metric, where));
  }
  return readings;
}

interface Outcome {
  readonly status: Status;
  /** Absent: unchanged. */
  readonly history?: History;
}

/** One sync of one autoscaler: reads, decides, scales, and reports. */
class Look {
  private conditions: Condition[];

  constructor(
    private readonly autoscaler: Autoscaler,
    private readonly before: History | undefined,
    private readonly selectors: TargetSelectors,
    private readonly sync: Sync,
  ) {
    this.conditions = [...((autoscaler.status?.conditions ?? []) as readonly Condition[])];
  }

  async run(): Promise<Outcome> {
    const target = await this.attempt(readTarget(this.autoscaler, this.sync.client));
    if (typeof target === 'string') {
      this.warn('FailedGetScale', target);
      this.set(
        'AbleToScale',
        'False',
        'FailedGetScale',
        `the HPA controller was unable to get the target's current scale: ${target}`,
      );
      return { status: this.status(this.autoscaler.status ?? {}) };
    }
    this.set(
      'AbleToScale',
      'True',
      'SucceededGetScale',
      "the HPA controller was able to get the target's current scale",
    );
    return this.size(target);
  }

  private async size(target: ScaleTarget): Promise<Outcome> {
    const { minReplicas = 1, maxReplicas } = this.autoscaler.spec;
    const current = target.scale.spec?.replicas ?? 0;
    const now = this.sync.clock.now();
    const history = this.before ?? { recommendations: remember([], current, now), changes: [] };
    if (current === 0 && minReplicas !== 0) {
      this.set(
        'ScalingActive',
        'False',
        'ScalingDisabled',
        'scaling is disabled since the replica count of the target is zero',
      );
      return { history, status: this.status({ currentReplicas: 0, desiredReplicas: 0 }) };
    }
    if (current > maxReplicas)
      return this.rescale(target, maxReplicas, 'Current number of replicas above Spec.MaxReplicas', history);
    if (current < minReplicas)
      return this.rescale(target, minReplicas, 'Current number of replicas below Spec.MinReplicas', history);
    return this.follow(target, current, history);
  }

  /** Follows the metrics. */
  private async follow(target: ScaleTarget, current: number, history: History): Promise<Outcome> {
    const { behavior, maxReplicas, minReplicas = 1 } = this.autoscaler.spec;
    const decided = await this.measure(target, current);
    const { statuses = [], wanted } = decided ?? {};
    if (!wanted) {
      const { desiredReplicas = 0 } = this.autoscaler.status ?? {};
      return {
        history,
        status: this.status({ currentReplicas: current, desiredReplicas, currentMetrics: statuses }),
      };
    }
    this.set(
      'ScalingActive',
      'True',
      'ValidMetricFound',
      `the HPA was able to successfully calculate a replica count from ${wanted.metric}`,
    );
    const now = this.sync.clock.now();
    const bounds = { minReplicas, maxReplicas, behavior };
    const size = decideSize(wanted.replicas, current, bounds, history, now);
    const { ableToScale, limited, replicas } = size;
    this.set('AbleToScale', 'True', ableToScale.reason, ableToScale.message);
    this.set('ScalingLimited', limited.isLimited ? 'True' : 'False', limited.reason, limited.message);
    const next = { ...history, recommendations: remember(history.recommendations, wanted.replicas, now) };
    if (replicas === current)
      return {
        history: next,
        status: this.status({ currentReplicas: current, desiredReplicas: current, currentMetrics: statuses }),
      };
    const reason = wanted.replicas > current ? `${wanted.metric} above target` : 'All metrics below target';
    return this.rescale(target, replicas, reason, next, statuses);
  }

  /** @returns undefined if it is unknown which metrics count */
  private async measure(
    { scale }: ScaleTarget,
    currentReplicas: number,
  ): Promise<DecidedMetrics | undefined> {
    const { behavior, metrics: specs = [] } = this.autoscaler.spec;
    const selector = scale.status?.selector ?? '';
    const pods = this.podsOf(selector);
    if (!pods) return undefined;
    const { client, clock } = this.sync;
    const { namespace = '' } = this.autoscaler.metadata;
    const metrics = await this.readResources(namespace, selector);
    const facts = {
      pods,
      currentReplicas,
      statusReplicas: scale.status?.replicas ?? currentReplicas,
      tolerance: {
        down: toleranceOf(behavior?.scaleDown?.tolerance),
        up: toleranceOf(behavior?.scaleUp?.tolerance),
      },
      nowMs: clock.now(),
    };
    const custom = await readCustomMetrics(client, specs, { namespace, podSelector: selector });
    const decided = decideMetrics(specs, metrics, facts, custom);
    this.tellFailures(decided, specs.length);
    return decided;
  }

  /** If no metric is about resources, their API is not asked. */
  private async readResources(namespace: string, selector: string): Promise<readonly PodMetrics[] | Problem> {
    const { metrics: specs = [] } = this.autoscaler.spec;
    if (specs.length > 0 && specs.every((spec) => compileCustomMetric(spec) !== undefined)) return [];
    const metrics = await this.attempt(readPodMetrics(this.sync.client, namespace, selector));
    return typeof metrics === 'string' ? { problem: unfetched(metrics) } : metrics;
  }

  private tellFailures({ failures, wanted }: DecidedMetrics, metrics: number): void {
    for (const { message, reason } of failures) this.warn(reason, message);
    const [first] = failures;
    if (!first || wanted) return;
    this.set(
      'ScalingActive',
      'False',
      first.reason,
      `the HPA was unable to compute the replica count: ${first.message}`,
    );
    this.warn(
      'FailedComputeMetricsReplicas',
      `invalid metrics (${failures.length} invalid out of ${metrics}), first error is: failed to get ${first.value}: ${first.message}`,
    );
  }

  private podsOf(selector: string): readonly DeepReadonly<Pod>[] | undefined {
    if (selector === '') {
      this.warn('SelectorRequired', 'selector is required');
      this.set('ScalingActive', 'False', 'InvalidSelector', "the HPA target's scale is missing a selector");
      return undefined;
    }
    try {
      const matches = parseLabelSelector(selector);
      const pods = this.sync
        .lister<Pod>(Pod)
        .byIndex(NAMESPACE_INDEX, this.autoscaler.metadata.namespace ?? '');
      const selected = matches ? pods.filter(({ metadata }) => matches(metadata.labels)) : pods;
      return this.isAlone(selector, matches, selected) ? this.servingOf(selected) : undefined;
    } catch (error) {
      if (!(error instanceof LabelSelectorSyntaxError)) throw error;
      const message = `couldn't convert selector into a corresponding internal selector object: ${error.message}`;
      this.warn('InvalidSelector', message);
      this.set('ScalingActive', 'False', 'InvalidSelector', message);
      return undefined;
    }
  }

  /** The pods of the version that serves, where two of them run whole. */
  private servingOf(pods: readonly DeepReadonly<Pod>[]): readonly DeepReadonly<Pod>[] {
    const { namespace } = this.autoscaler.metadata;
    const replicaSets = this.sync.lister<ReplicaSet>(ReplicaSet);
    return servingPods(pods, (name) => replicaSets.get(keyOf({ namespace, name })));
  }

  /** Pods that two autoscalers count would be scaled by both. */
  private isAlone(
    selector: string,
    matches: LabelMatcher | undefined,
    pods: readonly DeepReadonly<Pod>[],
  ): boolean {
    const { name, namespace = '' } = this.autoscaler.metadata;
    const selecting = this.selectors.put({ name, namespace }, matches, pods);
    if (selecting.length < 2) return true;
    const shown = selecting.map((other) => `{${other.name} ${other.namespace}}`).join(' ');
    const message = `pods by selector ${selector} are controlled by multiple HPAs: [${shown}]`;
    this.warn('AmbiguousSelector', message);
    this.set('ScalingActive', 'False', 'AmbiguousSelector', message);
    this.warn('FailedComputeMetricsReplicas', message);
    return false;
  }

  private async rescale(
    target: ScaleTarget,
    replicas: number,
    reason: string,
    history: History,
    currentMetrics?: Status['currentMetrics'] | DecidedMetrics['statuses'],
  ): Promise<Outcome> {
    const { autoscaler, sync } = this;
    const current = target.scale.spec?.replicas ?? 0;
    const metrics = currentMetrics ?? autoscaler.status?.currentMetrics;
    const failure = await this.attempt(writeReplicas(target, replicas, sync.client).then(() => undefined));
    if (typeof failure === 'string') {
      this.warn('FailedRescale', `New size: ${replicas}; reason: ${reason}; error: ${failure}`);
      this.set(
        'AbleToScale',
        'False',
        'FailedUpdateScale',
        `the HPA controller was unable to update the target scale: ${failure}`,
      );
      const { desiredReplicas = 0 } = autoscaler.status ?? {};
      return {
        history,
        status: this.status({ currentReplicas: current, desiredReplicas, currentMetrics: metrics }),
      };
    }
    this.set(
      'AbleToScale',
      'True',
      'SucceededRescale',
      `the HPA controller was able to update the target scale to ${replicas}`,
    );
    sync.events.record(autoscaler, {
      type: 'Normal',
      reason: 'SuccessfulRescale',
      message: `New size: ${replicas}; reason: ${reason}`,
    });
    const now = sync.clock.now();
    return {
      history: { ...history, changes: remember(history.changes, replicas - current, now) },
      status: this.status({
        currentReplicas: current,
        desiredReplicas: replicas,
        currentMetrics: metrics,
        lastScaleTime: toRfc3339(now),
      }),
    };
  }

  /** Returns API errors as text for the condition; rethrows everything else. */
  private async attempt<T>(call: Promise<T>): Promise<T | string> {
    try {
      return await call;
    } catch (error) {
      if (apiStatusOf(error) === undefined && !(error instanceof TerminalError)) throw error;
      return errorMessage(error);
    }
  }

  private warn(reason: string, message: string): void {
    this.sync.events.record(this.autoscaler, { type: 'Warning', reason, message });
  }

  private set(type: string, status: Condition['status'], reason: string, message: string): void {
    this.conditions = setCondition(this.conditions, { type, status, reason, message }, this.sync.clock);
  }

  private status(found: DeepReadonly<Partial<Status>>): Status {
    const { lastScaleTime } = this.autoscaler.status ?? {};
    return {
      ...(lastScaleTime !== undefined && { lastScaleTime }),
      desiredReplicas: 0,
      ...found,
      conditions: this.conditions,
    } as Status;
  }
}
