import type { NodeInfo, NominatedPods, PodInfo } from '../framework/node-info.js';
import type { NodeTrial, SchedulerPlugin, SchedulingContext, Verdict } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import type { Status } from '../framework/status.js';
import { isRefusal } from '../framework/status.js';
import { withPod, withoutPod } from '../node/node-info.js';
import type { PointTimer } from './point-timer.js';

/** A filter that takes part in the attempt, with what it computed of the pod. */
interface ActiveFilter {
  readonly plugin: SchedulerPlugin;
  readonly state: unknown;
}

interface AttemptParts {
  readonly context: SchedulingContext;
  readonly profile: Profile;
  readonly nominated: NominatedPods;
  /** @default nothing is noted */
  readonly timer?: PointTimer;
}

/** One attempt to schedule a pod, as far as its filters go. */
export class Attempt {
  readonly context: SchedulingContext;
  readonly profile: Profile;
  readonly nominated: NominatedPods;
  readonly timer: PointTimer | undefined;
  /** The plug-in that was called last: the one that threw, if any did. */
  asking = '';
  private filters: readonly ActiveFilter[] = [];
  private readonly states = new Map<SchedulerPlugin, unknown>();

  constructor({ context, nominated, profile, timer }: AttemptParts) {
    this.context = context;
    this.profile = profile;
    this.nominated = nominated;
    this.timer = timer;
  }

  /** The result of the plug-in's PreFilter, if it had one. */
  stateOf(plugin: SchedulerPlugin): unknown {
    return this.states.get(plugin);
  }

  keepState(plugin: SchedulerPlugin, state: unknown): void {
    this.states.set(plugin, state);
  }

  /** Ends PreFilter. */
  activateFilters(skipped: ReadonlySet<SchedulerPlugin>): void {
    this.filters = this.profile.filter
      .filter((plugin) => !skipped.has(plugin))
      .map((plugin) => ({ plugin, state: this.states.get(plugin) }));
  }

  /**
   * Whether the pod may run on the node, also if pods that are nominated to it come first. Such pods may be what the pod has an
   * affinity to and never arrive, so it has to fit without them too.
   */
  filter(node: NodeInfo): Verdict {
    return this.filterWithNominated(node, this.filters);
  }

  trial(node: NodeInfo): NodeTrial {
    let now = node;
    let filters = this.filters;
    return {
      get node() {
        return now;
      },
      remove: (pod) => {
        now = withoutPod(now, pod);
        filters = this.adjusted(filters, 'withoutPod', pod, now);
      },
      add: (pod) => {
        now = withPod(now, pod);
        filters = this.adjusted(filters, 'withPod', pod, now);
      },
      filter: () => this.filterWithNominated(now, filters),
    };
  }

  private filterWithNominated(node: NodeInfo, filters: readonly ActiveFilter[]): Verdict {
    const { key, priority } = this.context.pod;
    const first = this.nominated.on(node.name).filter((pod) => pod.priority >= priority && pod.key !== key);
    if (first.length > 0) {
      let crowded = node;
      let adjusted = filters;
      for (const pod of first) {
        crowded = withPod(crowded, pod);
        adjusted = this.adjusted(adjusted, 'withPod', pod, crowded);
      }
      const verdict = this.ask(crowded, adjusted);
      if (verdict) return verdict;
    }
    return this.ask(node, filters);
  }

  private adjusted(
    filters: readonly ActiveFilter[],
    how: 'withPod' | 'withoutPod',
    pod: PodInfo,
    node: NodeInfo,
  ): readonly ActiveFilter[] {
    return filters.map((filter) => {
      const { plugin, state } = filter;
      if (!plugin[how]) return filter;
      this.asking = plugin.name;
      return { plugin, state: plugin[how](state, pod, node, this.context) };
    });
  }

  /** The first refusal ends it. */
  private ask(node: NodeInfo, filters: readonly ActiveFilter[]): Verdict {
    for (const { plugin, state } of filters) {
      this.asking = plugin.name;
      const verdict = plugin.filter?.(node, this.context, state);
      if (verdict && verdict.code !== 'Success') return refusalBy(plugin, verdict);
    }
    return undefined;
  }
}

/** The status with the name of its plug-in. @throws Error if it is no refusal but a failure */
export function refusalBy(plugin: SchedulerPlugin, status: Status): Status {
  const isOne: boolean = isRefusal(status);
  if (!isOne) throw new Error(status.reasons.join(', ') || `unexpected status ${status.code}`);
  return { ...status, plugin: plugin.name };
}
