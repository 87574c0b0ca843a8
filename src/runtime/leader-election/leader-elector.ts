import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemClock, SystemRandom, pause } from '@rollkeeper/machinery/clock';
import {
  IllegalStateError,
  LeaseLostError,
  ShutdownError,
  SupersededError,
  errorMessage,
} from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { FinishedAttempt, StepDownReason } from './decide-lease-step.js';
import { decideLeaseStep, leadsUntilMs } from './decide-lease-step.js';
import type { EpochBound, HeldTerm } from './decide-term.js';
import { epochAboveAfter, termAfter, termWonBy } from './decide-term.js';
import { HolderVigil } from './holder-vigil.js';
import type { HolderWitness } from './holder-witness.js';
import type {
  LeaderElectionMetrics,
  CompiledLeaderElectionOptions,
  LeaderElectionOptions,
} from './leader-election.options.js';
import { noLeaderElectionMetrics, compileLeaderElectionOptions } from './leader-election.options.js';
import type { LeadershipTransition } from './lease-attempts.js';
import { LeadershipHistory, LeaseAttempts } from './lease-attempts.js';
import type { DeposedHolder, LeaderElectionRecord, ResourceLock } from './resource-lock.js';
import { WakeableSleep } from './wakeable-sleep.js';

export interface LeaderCallbacks {
  /**
   * The leading work. `signal` aborts with LeaseLostError if the lease is lost and with ShutdownError on a clean stop;
   * the work must then end soon, because only after that this process campaigns again or releases the lease. If the
   * work resolves earlier, we stay leader. If it rejects by itself, the lease is released for another; if it rejects
   * with SupersededError, it starts again with a valid epoch, provided the lease is still ours.
   * @param epoch the fencing epoch, to be passed to every place that the work writes to
   */
  onStartedLeading(signal: AbortSignal, epoch: number): Promise<void>;
  /** After the work has ended. */
  onStoppedLeading(reason: Error): void;
  /** Whenever another holder is seen, ourselves included. */
  onNewLeader(identity: string): void;
}

export interface LeaderElectorDependencies {
  readonly lock: ResourceLock;
  /**
   * Makes us visible, and shows whether others are alive. @default none: a dead holder keeps its lease until it expires
   */
  readonly witness?: HolderWitness | undefined;
  readonly callbacks: LeaderCallbacks;
  readonly options?: LeaderElectionOptions;
  readonly clock?: Clock;
  readonly random?: RandomSource;
  readonly logger?: Logger;
  readonly metrics?: LeaderElectionMetrics;
  /** Called with each transition; must not throw or wait. */
  readonly onTransition?: (transition: LeadershipTransition) => void;
}

const stepDownText: Record<StepDownReason, string> = {
  taken: 'another replica has taken the lease',
  interrupted: 'the lease was not ours in between: it had ended, or its store has lost it',
  deadline: 'the lease could not be renewed in time',
};

/**
 * Campaigns for a lease, leads while it holds it, and campaigns again after losing it; the process continues.
 *
 * Guarantees: the work of one term has ended before the next term of this process begins. Epochs given to the work
 * never decrease, also if the store loses the lease or goes back to an older one. Among all electors of one lock, each
 * epoch is issued by at most one as long as the store loses nothing. Without a witness, at most one
 * process with a reasonably accurate clock has `isLeader` at any moment: a leader gives up by its own monotonic clock
 * before any other can take over. With one, a living but invisible leader has `isLeader` until its next renewal shows
 * that it was deposed; dead, paused and isolated leaders behave as without a witness.
 *
 * Not promised: that the work of a former leader has ended when the next one starts. A paused process, one wrongly
 * considered dead, or work that ignores its signal may write late; the target of a write must use the epoch to refuse
 * that.
 *
 * Modelled on client-go `tools/leaderelection`, except that `run` survives a loss and awaits the work.
 */
export class LeaderElector {
  private readonly lock: ResourceLock;
  private readonly callbacks: LeaderCallbacks;
  private readonly options: CompiledLeaderElectionOptions;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly metrics: LeaderElectionMetrics;
  private readonly attempts: LeaseAttempts;
  private readonly onTransition: (transition: LeadershipTransition) => void;
  private readonly transitions = new LeadershipHistory();
  private hasRun = false;
  /** From acquiring the lease until the work has ended. */
  private term: HeldTerm | undefined;
  /** The lease is lost or being given up; the work may still be ending. */
  private isOver = false;
  private observed = { holder: '', epoch: 0 };
  private readonly witness: HolderWitness | undefined;
  private readonly vigil: HolderVigil | undefined;
  private readonly news: WakeableSleep;
  /** A dead holder that we have not tried to replace yet. */
  private gone: DeposedHolder | undefined;
  /** See {@link epochAboveAfter}. */
  private epochAbove = 0;

  /** @throws InvalidOptionError */
  constructor(deps: LeaderElectorDependencies) {
    this.lock = deps.lock;
    this.callbacks = deps.callbacks;
    this.options = compileLeaderElectionOptions(deps.options);
    this.clock = deps.clock ?? new SystemClock();
    this.logger = (deps.logger ?? silentLogger).child({ identity: deps.lock.identity });
    this.metrics = deps.metrics ?? noLeaderElectionMetrics;
    this.onTransition = deps.onTransition ?? (() => undefined);
    this.news = new WakeableSleep(this.clock);
    const common = {
      clock: this.clock,
      random: deps.random ?? new SystemRandom(),
      logger: this.logger,
      options: this.options,
    };
    this.attempts = new LeaseAttempts({
      ...common,
      lock: this.lock,
      metrics: this.metrics,
      onRecord: (record) => this.observe(record),
    });
    this.witness = this.options.takeover === 'witness' ? deps.witness : undefined;
    this.vigil = this.witness && new HolderVigil({ ...common, witness: this.witness });
  }

  get identity(): string {
    return this.lock.identity;
  }

  /** Whether we can prove now that no other process holds the lease. */
  get isLeader(): boolean {
    if (!this.term || this.isOver) return false;
    return this.clock.monotonicNow() < leadsUntilMs(this.term.renewedAtMs, this.options);
  }

  /** The last seen holder of the lease; empty before the first answer and after a release. */
  get leader(): string {
    return this.observed.holder;
  }

  /** The newest epoch seen; 0 before the first answer. */
  get epoch(): number {
    return this.observed.epoch;
  }

  /** The last 100 transitions, oldest first. */
  get history(): readonly LeadershipTransition[] {
    return this.transitions.list();
  }

  /**
   * For liveness: rejects only if we have work of a term whose lease ended more than the tolerance ago, so that an
   * outage of the store restarts no process.
   */
  async checkHealth(): Promise<void> {
    if (!this.term) return;
    const { leaseDurationMs, healthToleranceMs } = this.options;
    const lateMs = this.clock.monotonicNow() - this.term.renewedAtMs - leaseDurationMs;
    if (lateMs > healthToleranceMs) {
      throw new LeaseLostError(`the lease ended ${Math.round(lateMs)} ms ago and the leading work goes on`);
    }
  }

  /**
   * Campaigns and leads until `signal` aborts; then awaits the leading work, releases the lease and resolves.
   * @throws IllegalStateError if called twice
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.hasRun) throw new IllegalStateError('the elector has been run already');
    this.hasRun = true;
    this.metrics.leading(false);
    const wake = (): void => this.news.wake();
    const unsubscribes = [this.lock.onReleased(wake), this.witness?.onHidden(wake)];
    const visible = new AbortController();
    const witnessing = this.witness?.run(visible.signal);
    try {
      while (!signal.aborted) {
        this.term = await this.campaign(signal);
        if (this.term) await this.lead(this.term, signal);
      }
    } finally {
      for (const unsubscribe of unsubscribes) unsubscribe?.();
      // Also if we have not led: an attempt whose answer we did not wait for may have succeeded.
      await this.release();
      visible.abort();
      await witnessing;
    }
  }

  /** Attempts until the lease is ours. `undefined` if `signal` aborts. */
  private async campaign(signal: AbortSignal): Promise<HeldTerm | undefined> {
    const over = new AbortController();
    const watching = this.vigil?.run((holder) => {
      this.gone = holder;
      this.news.wake();
    }, over.signal);
    try {
      return await this.attemptUntilWon(signal);
    } finally {
      over.abort();
      await watching;
    }
  }

  private async attemptUntilWon(signal: AbortSignal): Promise<HeldTerm | undefined> {
    let last: FinishedAttempt | undefined;
    while (!signal.aborted) {
      const step = decideLeaseStep({ nowMs: this.clock.monotonicNow(), last }, this.options);
      if (step.step === 'attempt') {
        this.news.takeNews();
        last = await this.attempt(step.timeoutMs, signal);
        const won = termWonBy(last, this.clock.monotonicNow(), this.options);
        if (won) return won;
        // A notification during the request may be newer than the answer.
        if (this.news.takeNews()) last = undefined;
      } else if (step.step === 'wait' && (await this.news.sleep(step.waitMs, signal))) {
        last = undefined;
      }
    }
    return undefined;
  }

  private async attempt(timeoutMs: number, signal: AbortSignal): Promise<FinishedAttempt> {
    const { epochAbove, gone: deposing } = this;
    this.gone = undefined;
    const witness = this.witness?.place;
    const finished = await this.attempts.attempt(timeoutMs, signal, { deposing, epochAbove, witness });
    if (finished.result === 'acquired' && deposing) this.metrics.deposed();
    return finished;
  }

  /** One term: the work, and the renewals beside it. Ends when the work has ended. */
  private async lead(term: HeldTerm, signal: AbortSignal): Promise<void> {
    this.isOver = false;
    this.mustExceed({ by: 'own-term', epoch: term.epoch });
    this.record(this.identity, term.epoch, 'started leading');
    this.metrics.leading(true);
    const leading = new AbortController();
    const renewing = new AbortController();
    const work = this.work(leading.signal, term.epoch);
    void work.then((failure) => failure && renewing.abort());
    const onStop = (): void => {
      leading.abort(new ShutdownError('we are stopping'));
      // The lease stays ours until the work has ended.
      void work.finally(() => renewing.abort());
    };
    signal.addEventListener('abort', onStop, { once: true });
    if (signal.aborted) onStop();
    const lost = await this.renewUntilLost(renewing.signal);
    if (lost) {
      this.isOver = true;
      this.metrics.leading(false);
      leading.abort(lost);
    }
    const failure = await work;
    signal.removeEventListener('abort', onStop);
    await this.endTerm(term, lost ?? failure ?? new ShutdownError('we are stopping'), signal);
  }

  private async endTerm(term: HeldTerm, reason: Error, signal: AbortSignal): Promise<void> {
    this.isOver = true;
    this.term = undefined;
    this.metrics.leading(false);
    this.record(this.identity, term.epoch, `stopped: ${reason.message}`);
    this.safely(() => this.callbacks.onStoppedLeading(reason));
    if (signal.aborted || reason instanceof LeaseLostError) return;
    if (reason instanceof SupersededError) {
      // Either the lease is another's, and the next answer says so; or it is ours with an outdated epoch: then we need
      // a higher one.
      this.mustExceed({ by: 'refusal', epoch: reason.epoch });
      await pause(this.clock, this.attempts.retryMs(), signal);
      return;
    }
    // The work failed by itself: pause, so that another can take over.
    await this.release();
    await pause(this.clock, this.attempts.retryMs(), signal);
  }

  /** Resolves with why the lease is lost, or `undefined` once renewals are no longer needed. */
  private async renewUntilLost(done: AbortSignal): Promise<LeaseLostError | undefined> {
    let last: FinishedAttempt | undefined;
    let isUrgent = false;
    this.news.takeNews();
    while (!done.aborted && this.term) {
      const { term } = this;
      const view = { nowMs: this.clock.monotonicNow(), term, last, isUrgent };
      const step = decideLeaseStep(view, this.options);
      if (step.step === 'stepDown') {
        if (step.reason === 'interrupted') this.mustExceed({ by: 'interruption', epoch: term.epoch });
        return new LeaseLostError(this.whyOver(step.reason));
      }
      if (step.step === 'wait') {
        isUrgent = await this.news.sleep(step.waitMs, done);
        continue;
      }
      isUrgent = false;
      last = await this.attempt(step.timeoutMs, done);
      this.term = termAfter(term, last, this.options);
    }
    return undefined;
  }

  private mustExceed(bound: EpochBound): void {
    this.epochAbove = epochAboveAfter(this.epochAbove, bound);
  }

  private whyOver(reason: StepDownReason): string {
    const isAskedTo = reason === 'taken' && this.observed.holder === this.identity;
    return isAskedTo ? 'another replica is to take the lease' : stepDownText[reason];
  }

  /** Never rejects: resolves with the error of the work, if it failed by itself. */
  private async work(signal: AbortSignal, epoch: number): Promise<Error | undefined> {
    try {
      await this.callbacks.onStartedLeading(signal, epoch);
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof SupersededError)
        this.logger.warn('leading does not count any more', { epoch, error: error.message });
      else this.logger.error('the leading work failed, giving up the lease', { error });
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  private async release(): Promise<void> {
    try {
      if (await this.attempts.release()) this.observed = { ...this.observed, holder: '' };
    } catch (error) {
      this.logger.warn('the leader lease could not be released and has to expire', {
        error: errorMessage(error),
      });
    }
  }

  private observe(record: LeaderElectionRecord): void {
    const { holderIdentity, leaderTransitions } = record;
    const { holder, epoch } = this.observed;
    this.vigil?.watch(record);
    if (holderIdentity !== this.identity) this.mustExceed({ by: 'another-holder', epoch: leaderTransitions });
    if (holderIdentity === holder && leaderTransitions === epoch) return;
    this.observed = { holder: holderIdentity, epoch: leaderTransitions };
    this.metrics.transition();
    if (holderIdentity !== this.identity) this.record(holderIdentity, leaderTransitions, 'observed');
    if (holderIdentity !== holder) this.safely(() => this.callbacks.onNewLeader(holderIdentity));
  }

  private record(who: string, epoch: number, why: string): void {
    const transition = { who, epoch, why, atMs: this.clock.now() };
    this.transitions.add(transition);
    this.logger.info('leadership', { leader: who, epoch, why });
    this.safely(() => this.onTransition(transition));
  }

  private safely(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.logger.error('a callback of the leader election failed', { error });
    }
  }
}
