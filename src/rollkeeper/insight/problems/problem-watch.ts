import type { EventRecorder } from '@rollkeeper/client/events';
import { isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { Problems } from '../diagnose/index.js';
import type { KnownProblems, ProblemCount } from './decide-problem-changes.js';
import { countProblems, decideProblemChanges, knownBefore } from './decide-problem-changes.js';
import { appearedNote, goneNote, objectOf } from './problem-events.js';
import type { WatchedProblem } from './watched-problem.js';
import { problemsIn } from './watched-problem.js';

/** The result of one look. */
export type LookResult =
  | { readonly result: 'done'; readonly tookMs: number; readonly reads: Problems['reads'] }
  | { readonly result: 'failed'; readonly tookMs: number };

interface ProblemWatchOptions {
  /** Finds what is wrong now. */
  readonly look: (signal: AbortSignal) => Promise<Problems>;
  /** The problems that earlier leaders have reported and not reported as solved. */
  readonly reported: (signal: AbortSignal) => Promise<readonly WatchedProblem[]>;
  readonly events: EventRecorder;
  readonly isLeader: () => boolean;
  /** Origin of the console, for links to it. @default the Events have none */
  readonly consoleUrl?: string | undefined;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onLook?: (look: LookResult) => void;
}

/** How soon a new leader begins. */
const LOOK_AT_LEADERSHIP_MS = 1000;
/**
 * Looks take at most this share of the time: a large cluster is looked at less often. One look says little of its size, because it may
 * have waited for a server that hung: the shorter of the last two counts, and one that failed does not.
 */
const LARGEST_SHARE = 0.1;

/**
 * Looks for problems while the replica leads, and reports each once, by an Event on its object, when it appears and when it is
 * solved. What counts as appeared is decided by `decideProblemChanges`.
 */
export class ProblemWatch {
  private known: KnownProblems = new Map();
  private notes = '';
  private nextLookMs = 0;
  /** How long the last successful look took; 0 before the first. */
  private lastTookMs = 0;
  /** Whether this replica leads, and knows what earlier leaders have reported. */
  private hasBegun = false;

  constructor(private readonly options: ProblemWatchOptions) {}

  /** By kind and cause; undefined where the replica does not look, so that the leader alone counts. */
  counts(): readonly ProblemCount[] | undefined {
    const { clock, isLeader } = this.options;
    if (!isLeader() || !this.hasBegun) return undefined;
    return countProblems(this.known, clock.now());
  }

  /** Looks until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, isLeader } = this.options;
    const pauseMs = Math.min(intervalMs, LOOK_AT_LEADERSHIP_MS);
    do {
      if (!isLeader()) this.forget();
      else if (this.nextLookMs <= clock.monotonicNow()) await this.lookOnce(signal);
    } while (await pause(clock, pauseMs, signal));
  }

  private forget(): void {
    this.known = new Map();
    this.notes = '';
    this.nextLookMs = 0;
    this.lastTookMs = 0;
    this.hasBegun = false;
  }

  private async lookOnce(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, isLeader, logger, onLook } = this.options;
    const beganMs = clock.monotonicNow();
    let costMs = 0;
    try {
      if (!this.hasBegun) this.known = knownBefore(await this.options.reported(signal));
      this.hasBegun = true;
      const found = await this.options.look(signal);
      // A problem that another leader reports by now is not ours to report.
      if (!isLeader()) return;
      this.conclude(found);
      const tookMs = clock.monotonicNow() - beganMs;
      costMs = Math.min(this.lastTookMs, tookMs);
      this.lastTookMs = tookMs;
      onLook?.({ result: 'done', tookMs, reads: found.reads });
    } catch (error) {
      if (isAborted(signal)) return;
      onLook?.({ result: 'failed', tookMs: clock.monotonicNow() - beganMs });
      logger.warn('a look for problems failed; the next one follows', { error: errorMessage(error) });
    } finally {
      this.nextLookMs = beganMs + Math.max(intervalMs, costMs / LARGEST_SHARE);
    }
  }

  private conclude({ notes, problems }: Problems): void {
    const { clock, consoleUrl, events, logger } = this.options;
    const { appeared, gone, known } = decideProblemChanges(this.known, problemsIn(problems, clock.now()));
    this.known = known;
    for (const problem of appeared) record(events, problem, appearedNote(problem, consoleUrl));
    for (const problem of gone) record(events, problem, goneNote(problem, consoleUrl));
    const said = notes.join(' ');
    if (said !== '' && said !== this.notes) logger.info('problems are looked for in a part only', { said });
    this.notes = said;
  }
}

function record(events: EventRecorder, problem: WatchedProblem, note: ReturnType<typeof goneNote>): void {
  const about = objectOf(problem);
  if (about) events.record(about, note);
}
