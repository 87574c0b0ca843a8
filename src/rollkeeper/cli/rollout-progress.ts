import { ROLLOUT_EXIT_CODES } from '../terminal/exit-codes.js';
import {
  InvalidOptionError,
  TimeoutError,
  UnsupportedError,
  errorMessage,
} from '@rollkeeper/machinery/errors';
import type { Clock } from '@rollkeeper/machinery/clock';
import { endSoon, isOutputClosed, printError } from '@rollkeeper/machinery/process';
import type {
  Print,
  RolloutEnd,
  RolloutReporter,
  RolloutTarget,
  WaitUntil,
} from '../insight/rollout/index.js';
import type { ApiFlags } from './shared-options.js';
import type { Target } from './target.js';

/** The flags of `rollkeeper rollout status` and `wait`. */
export interface ProgressFlags extends ApiFlags {
  /** The flag of `status`: `false` looks once. */
  readonly watch?: string | true;
  readonly timeout?: string;
  readonly untilApproval?: boolean;
  readonly untilHeld?: boolean;
  readonly bakeTime?: string;
  readonly output?: string;
  readonly github?: boolean;
}

/** `follow` until there is an end to report; `look` once. */
type ProgressMode = 'follow' | 'look';

interface CompiledProgress {
  readonly timeoutMs: number;
  readonly until: WaitUntil;
  readonly bakeMs?: number;
  readonly asJson: boolean;
  readonly forGithub: boolean;
}

/** Longer than the progress deadline that a Deployment has where it says nothing. */
export const DEFAULT_TIMEOUT = '15m';
/** The patience of a single look. */
const LOOK_TIMEOUT_MS = 30_000;
/** The width of a terminal that does not say how wide it is. */
const USUAL_COLUMNS = 80;
const OF_FOLLOWING_ALONE = ['timeout', 'untilApproval', 'untilHeld'] as const;

/** @throws InvalidOptionError */
async function compileProgress(
  mode: ProgressMode,
  flags: ProgressFlags,
  env: NodeJS.ProcessEnv,
): Promise<CompiledProgress> {
  const { bakeTime, github, output = 'text', timeout = DEFAULT_TIMEOUT, untilApproval, untilHeld } = flags;
  const misplaced = OF_FOLLOWING_ALONE.find((flag) => mode === 'look' && flags[flag] !== undefined);
  if (misplaced !== undefined)
    throw new InvalidOptionError(hyphenated(misplaced), 'cannot be combined with --watch=false');
  if (output !== 'text' && output !== 'json')
    throw new InvalidOptionError('output', `"${output}" is neither text nor json`);
  const asJson = output === 'json';
  if (asJson && github) throw new InvalidOptionError('github', 'cannot be combined with --output json');
  const timeoutMs = await readDuration('timeout', timeout);
  if (timeoutMs === 0) throw new InvalidOptionError('timeout', 'must be longer than 0s');
  return {
    timeoutMs: mode === 'look' ? LOOK_TIMEOUT_MS : timeoutMs,
    until: { approval: untilApproval, held: untilHeld },
    bakeMs: bakeTime === undefined ? undefined : await readDuration('bake-time', bakeTime),
    asJson,
    forGithub: github ?? (env['GITHUB_ACTIONS'] === 'true' && !asJson),
  };
}

/** Follows a rollout, or looks at it once, says how it is, and sets the exit code. */
export async function showProgress(
  mode: ProgressMode,
  asked: Target,
  flags: ProgressFlags,
  signal: AbortSignal,
): Promise<void> {
  const compiled = await compileProgress(mode, flags, process.env);
  const { findRollout } = await import('./live-deployment.js');
  const { withApi } = await import('./with-api.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const { LinkedAbort, abortable } = await import('@rollkeeper/machinery/cancellation');
  const clock = new SystemClock();
  const startedMs = clock.monotonicNow();
  const linked = new LinkedAbort(signal);
  const late = new TimeoutError(`the API has not answered within ${compiled.timeoutMs / 1000} s`);
  const timer = clock.setTimeout(() => linked.abort(late), compiled.timeoutMs);
  try {
    const end = await withApi(flags, async (client) => {
      // A request whose connection is still being made notices no abort.
      const found = await abortable(findRollout(client, asked, linked.signal), linked.signal);
      const target = { client, ...found };
      timer.cancel();
      return endOf(mode, target, { ...compiled, clock, startedMs }, signal);
    });
    process.exitCode = ROLLOUT_EXIT_CODES[end.outcome];
  } catch (error) {
    if (!signal.aborted) throw error;
    if (isOutputClosed(signal)) return;
    printError(`rollkeeper: ${errorMessage(signal.reason)} before the rollout was over`);
    process.exitCode = 1;
  } finally {
    timer.cancel();
    linked.close();
    void endSoon();
  }
}

async function endOf(
  mode: ProgressMode,
  target: RolloutTarget,
  compiled: CompiledProgress & { readonly clock: Clock; readonly startedMs: number },
  signal: AbortSignal,
): Promise<RolloutEnd> {
  const { WatchedRollout, followRollout, lookAtRollout } = await import('../insight/rollout/index.js');
  const { SystemRandom } = await import('@rollkeeper/machinery/clock');
  const { clock, startedMs, timeoutMs } = compiled;
  const source = new WatchedRollout(target, { clock, random: new SystemRandom() });
  const reporter = await reporterFor(compiled);
  const leftMs = Math.max(1, startedMs + timeoutMs - clock.monotonicNow());
  const showEveryMs = process.stdout.isTTY ? 1000 : undefined;
  return source.watching(leftMs, signal, async () => {
    if (mode === 'follow')
      return followRollout(source, { ...compiled, startedMs, reporter, showEveryMs }, signal);
    const end = lookAtRollout(source, compiled);
    if (!end) throw new UnsupportedError(`${target.deployment.metadata.name} has just been deleted`);
    reporter.end(end);
    return end;
  });
}

async function reporterFor({
  asJson,
  clock,
  forGithub,
}: CompiledProgress & { readonly clock: Clock }): Promise<RolloutReporter> {
  const { GithubReporter, JsonReporter, LineReporter, TerminalReporter } =
    await import('../insight/rollout/index.js');
  const { stderr, stdout } = process;
  const print: Print = { out: (text) => void stdout.write(text), error: (text) => void stderr.write(text) };
  if (asJson) return new JsonReporter(print);
  const reporter = stdout.isTTY
    ? new TerminalReporter(print, clock, () => stdout.columns || USUAL_COLUMNS)
    : new LineReporter(print);
  return forGithub ? new GithubReporter(reporter, print) : reporter;
}

/** `5m`, `1h30m`, or a number of seconds. */
export async function readDuration(option: string, text: string): Promise<number> {
  const { parseDuration } = await import('@rollkeeper/machinery/clock');
  const ms = parseDuration(/^\d+(\.\d+)?$/.test(text) ? `${text}s` : text);
  if (ms === undefined)
    throw new InvalidOptionError(option, `"${text}" is not a duration such as 90s, 5m or 1h30m`);
  return ms;
}

/** @throws InvalidOptionError */
export function progressModeOf(verb: 'status' | 'wait', { watch = true }: ProgressFlags): ProgressMode {
  if (watch === true || watch === 'true') return 'follow';
  if (watch !== 'false') throw new InvalidOptionError('watch', `"${watch}" is neither true nor false`);
  if (verb === 'wait') throw new InvalidOptionError('watch', 'is only for status; wait always waits');
  return 'look';
}

function hyphenated(flag: string): string {
  return flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
