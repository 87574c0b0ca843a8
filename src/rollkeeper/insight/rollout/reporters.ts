import type { Clock } from '@rollkeeper/machinery/clock';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { escapedLine, escapedText } from '@rollkeeper/machinery/process';
import { renderDuration } from '@rollkeeper/machinery/clock';
import type { RolloutReport } from './describe-rollout.js';
import type { RolloutEnd, RolloutReporter } from './follow-rollout.js';
import type { RolloutOutcome } from './rollout-outcome.js';
import { ROLLOUT_EXIT_CODES } from '../../terminal/exit-codes.js';

export interface Print {
  /** Prints what was asked for. */
  readonly out: (text: string) => void;
  /** For what failed. */
  readonly error: (text: string) => void;
}

/** One line for each change that can be read in it, as logs keep them. */
export class LineReporter implements RolloutReporter {
  private last: string | undefined;

  constructor(private readonly print: Print) {}

  show({ message }: RolloutReport, isNews: boolean): void {
    if (!isNews || message === this.last) return;
    this.last = message;
    this.print.out(`${escapedText(message)}\n`);
  }

  end(end: RolloutEnd): void {
    printEnd(this.print, end);
  }
}

/** One JSON object for each change, each on its own line; the last has `outcome` and `exitCode` besides. */
export class JsonReporter implements RolloutReporter {
  constructor(private readonly print: Print) {}

  show(report: RolloutReport, isNews: boolean): void {
    if (isNews) this.print.out(`${escapedText(stringifyJson(report))}\n`);
  }

  end({ outcome, report }: RolloutEnd): void {
    const last = { ...report, outcome, exitCode: ROLLOUT_EXIT_CODES[outcome] };
    this.print.out(`${escapedText(stringifyJson(last))}\n`);
  }
}

/** Erases what is on the line, and goes to its beginning. */
const AGAIN = '\r\u001b[2K';

/** One line that is written over and over, with the time that has passed; what another phase began with stays above it. */
export class TerminalReporter implements RolloutReporter {
  private readonly startedMs: number;
  private phase: string | undefined;

  /** @param columns how wide the terminal is now */
  constructor(
    private readonly print: Print,
    private readonly clock: Clock,
    private readonly columns: () => number,
  ) {
    this.startedMs = clock.monotonicNow();
  }

  show(report: RolloutReport): void {
    const { phase } = report;
    const isOther = this.phase !== undefined && phase !== this.phase;
    this.phase = phase;
    if (isOther) this.print.out(`${AGAIN}${oneLine(report.message)}\n`);
    this.print.out(AGAIN + clipped(this.lineOf(report), this.columns() - 1));
  }

  end(end: RolloutEnd): void {
    if (this.phase !== undefined) this.print.out(AGAIN);
    printEnd(this.print, end);
  }

  private lineOf({ cause, counts, name, phase }: RolloutReport): string {
    const elapsed = renderDuration(this.clock.monotonicNow() - this.startedMs);
    const { available, replicas, updated } = counts;
    const numbers = `${updated} of ${replicas} new, ${available} available`;
    const why = cause ? `: ${oneLine(cause.summary)}` : '';
    return `${elapsed} ${escapedLine(name)} ${phase} (${numbers})${why}`;
  }
}

/** The outcomes that are no failure, and that a person should know all the same. */
const NOTICES: ReadonlySet<RolloutOutcome> = new Set<RolloutOutcome>([
  'complete',
  'waiting-for-approval',
  'held',
  'progressing',
]);

/** Adds annotations for GitHub Actions: `::notice` and `::error` at the end, and a notice when a person is waited for. */
export class GithubReporter implements RolloutReporter {
  private phase: string | undefined;

  constructor(
    private readonly inner: RolloutReporter,
    private readonly print: Print,
  ) {}

  show(report: RolloutReport, isNews: boolean): void {
    this.inner.show(report, isNews);
    const { phase } = report;
    if (phase !== this.phase && (phase === 'waiting-for-approval' || phase === 'held'))
      this.annotate('notice', phase, report);
    this.phase = phase;
  }

  end(end: RolloutEnd): void {
    this.inner.end(end);
    const { outcome, report } = end;
    this.annotate(NOTICES.has(outcome) ? 'notice' : 'error', outcome, report);
  }

  private annotate(level: 'notice' | 'error', what: string, { message, name }: RolloutReport): void {
    const title = escaped(`Rollout of ${name}: ${what}`).replaceAll(':', '%3A').replaceAll(',', '%2C');
    this.print.out(`::${level} title=${title}::${escaped(message)}\n`);
  }
}

function printEnd({ error, out }: Print, { outcome, report }: RolloutEnd): void {
  const isGood = outcome === 'complete' || outcome === 'progressing';
  const message = escapedText(report.message);
  if (isGood) out(`${message}\n`);
  else error(`rollkeeper: ${message}\n`);
}

/** As the runner of GitHub Actions reads a workflow command. */
function escaped(text: string): string {
  return escapedText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function oneLine(text: string): string {
  return escapedLine(text.replaceAll(/\s+/g, ' '));
}

function clipped(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
}
