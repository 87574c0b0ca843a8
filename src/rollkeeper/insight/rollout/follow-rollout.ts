import type { Clock } from '@rollkeeper/machinery/clock';
import type {
  DeepReadonly,
  Deployment,
  DeploymentSpec,
  Pod,
  ReplicaSet,
} from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { renderDuration } from '@rollkeeper/machinery/clock';
import type { RolloutState, RolloutView } from '@rollkeeper/controllers/deployment';
import { rolloutState, workloadOf } from '@rollkeeper/controllers/deployment';
import type { RolloutReport } from './describe-rollout.js';
import { describeRollout } from './describe-rollout.js';
import type { RolloutOutcome, WaitUntil } from './rollout-outcome.js';
import { OUTCOME_OF_PHASE, outcomeOfTimeout, outcomeOfWait } from './rollout-outcome.js';

/** The knowledge of a Deployment and its own at one moment. */
export interface ObservedRollout {
  readonly deployment: DeepReadonly<Deployment>;
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  /** Whether ReplicaSets and pods may be read. */
  readonly isWhole: boolean;
}

/** Knows where the rollout is, and notices changes. */
export interface RolloutSource {
  /** Undefined: the requested Deployment no longer exists. */
  current(): ObservedRollout | undefined;
  /** Resolves after a change since the last call, or after `forMs`; rejects with the signal's reason. */
  waitForChange(forMs: number, signal: AbortSignal): Promise<void>;
  /** Why the API cannot be asked at the moment. */
  readonly trouble: string | undefined;
}

export interface RolloutEnd {
  readonly outcome: RolloutOutcome;
  readonly report: RolloutReport;
}

/** Shows the rollout. */
export interface RolloutReporter {
  /** @param isNews whether it differs from what was shown before in more than details */
  show(report: RolloutReport, isNews: boolean): void;
  /** The last that is said. */
  end(end: RolloutEnd): void;
}

export interface FollowOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** When the time began, by the monotonic clock. @default now */
  readonly startedMs?: number;
  readonly until?: WaitUntil;
  /** In place of the bake time of its policies; 0: not at all. */
  readonly bakeMs?: number;
  readonly reporter: RolloutReporter;
  /**
   * Interval at which it is shown although nothing has changed, milliseconds: some causes depend on the time that has passed.
   * @default 5000
   */
  readonly showEveryMs?: number;
}

/** The state of the rollout now. Undefined: the Deployment no longer exists. */
export function lookAtRollout(
  source: RolloutSource,
  { bakeMs, clock }: Pick<FollowOptions, 'bakeMs' | 'clock'>,
): RolloutEnd | undefined {
  const observed = source.current();
  if (!observed) return undefined;
  const { isWhole, ...known } = observed;
  const view = { ...known, bakeMs, nowMs: clock.now() };
  const state = rolloutState(view);
  const report = describeRollout({ view, state, isWhole, isLast: true });
  return { outcome: OUTCOME_OF_PHASE[state.phase], report };
}

/**
 * Follows a rollout until it is over, or the time is. Another template in the middle is followed, and said.
 * Rejects with the signal's reason.
 */
export async function followRollout(
  source: RolloutSource,
  options: FollowOptions,
  signal: AbortSignal,
): Promise<RolloutEnd> {
  const end = await new RolloutFollower(source, options).follow(signal);
  options.reporter.end(end);
  return end;
}

class RolloutFollower {
  private shown: RolloutReport | undefined;
  /**
   * The template that was asked for when that was shown. Generations say less: each annotation that a controller writes
   * is one.
   */
  private shownTemplate: Template | undefined;
  /** Its kind as kubectl names it. */
  private resource = 'deployment';
  /** The spec that was asked for when it was last seen complete. */
  private completeSpec: DeepReadonly<DeploymentSpec> | undefined;

  constructor(
    private readonly source: RolloutSource,
    private readonly options: FollowOptions,
  ) {}

  async follow(signal: AbortSignal): Promise<RolloutEnd> {
    const { clock, showEveryMs = 5000, timeoutMs, until = {} } = this.options;
    const endsMs = (this.options.startedMs ?? clock.monotonicNow()) + timeoutMs;
    for (;;) {
      signal.throwIfAborted();
      const observed = this.source.current();
      if (!observed) return { outcome: 'gone', report: this.gone() };
      const view = this.viewOf(observed);
      const state = rolloutState(view);
      if (state.phase === 'baking') this.completeSpec = view.deployment.spec;
      const describe = (isLast: boolean): RolloutReport =>
        this.withMeanwhile(view, describeRollout({ view, state, isWhole: observed.isWhole, isLast }));
      const outcome = outcomeOfWait(state.phase, until);
      if (outcome) return { outcome, report: describe(true) };
      const leftMs = endsMs - clock.monotonicNow();
      if (leftMs <= 0) return this.timedOut(state, describe(true));
      this.show(view, describe(false));
      const changesAfterMs = state.phase === 'baking' ? state.lookAgainAfterMs : Infinity;
      const againMs = Math.min(leftMs, showEveryMs, changesAfterMs);
      await this.source.waitForChange(Math.max(1, againMs), signal);
    }
  }

  private viewOf({ isWhole: _isWhole, ...known }: ObservedRollout): RolloutView {
    const { bakeMs, clock } = this.options;
    const wasComplete = semanticEqual(this.completeSpec, known.deployment.spec);
    return { ...known, bakeMs, wasComplete, nowMs: clock.now() };
  }

  private timedOut({ phase }: RolloutState, report: RolloutReport): RolloutEnd {
    const { trouble } = this.source;
    const unheard = trouble === undefined ? '' : ` (the API cannot be asked: ${trouble})`;
    const message = `timed out after ${renderDuration(this.options.timeoutMs)}${unheard}: ${report.message}`;
    return { outcome: outcomeOfTimeout(phase), report: { ...report, message } };
  }

  private gone(): RolloutReport {
    const { shown } = this;
    if (!shown) throw new Error('a rollout that was never seen cannot be gone');
    const message = `${this.resource} "${shown.name}" has been deleted`;
    return { ...shown, phase: 'deleting', reason: undefined, cause: undefined, message };
  }

  private show({ deployment }: RolloutView, report: RolloutReport): void {
    this.resource = workloadOf(deployment).resource;
    const isNew = this.isAnother(deployment.spec.template) || isNews(this.shown, report);
    this.options.reporter.show(report, isNew);
    this.shown = report;
    this.shownTemplate = deployment.spec.template;
  }

  /** A rollback changes the template as well, and says so itself. */
  private withMeanwhile({ deployment }: RolloutView, report: RolloutReport): RolloutReport {
    const isOwn = report.phase === 'rolling-back' || report.phase === 'rolled-back';
    if (isOwn || !this.isAnother(deployment.spec.template)) return report;
    return { ...report, message: `another template was asked for meanwhile: ${report.message}` };
  }

  private isAnother(template: Template): boolean {
    return this.shownTemplate !== undefined && !semanticEqual(this.shownTemplate, template);
  }
}

type Template = DeepReadonly<DeploymentSpec>['template'];

/** Causes reword themselves all the time: it is the kind of cause that matters. */
function isNews(before: RolloutReport | undefined, now: RolloutReport): boolean {
  if (!before) return true;
  const keyOf = ({ cause, counts, phase }: RolloutReport): string =>
    [phase, cause?.code, counts.total, counts.updated, counts.available].join();
  return keyOf(before) !== keyOf(now);
}
