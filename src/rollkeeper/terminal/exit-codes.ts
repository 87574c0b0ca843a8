import { USAGE_EXIT_CODE } from '@rollkeeper/machinery/process';

/**
 * The exit codes of all commands, for scripts. Help, docs/CLI.md and the man page list them from here, and commands take their
 * own codes from here, which begin at 3. The codes 1 and 2 are failures and usage errors, as of every command.
 */

/** The code of `diff` if something differs. */
export const DIFFERS = 3;

/** The code of `problems` if some objects are stuck or degraded. */
export const SOMETHING_IS_WRONG = 4;

/** The codes of `doctor`, by the worst finding. */
export const DOCTOR_EXIT_CODES = { ok: 0, warning: 3, failure: 4 } as const;

/** The codes of `explain` and `why`, by the state of the object. */
export const STATE_EXIT_CODES = {
  ...{ healthy: 0, complete: 0, 'scaled-to-zero': 0 },
  ...{ progressing: 3, blocked: 4, degraded: 5, paused: 6, deleting: 7 },
} as const;

/** The codes of `explain` for a pod that needs a node. */
export const PLACEMENT_EXIT_CODES = {
  ...{ bound: 0, ended: 0 },
  ...{ waits: 3, elsewhere: 3, refused: 4, gated: 6, deleting: 7 },
} as const;

/** The codes of `rollout status` and `rollout wait`, by the outcome; docs/ROLLOUTS.md describes them. */
export const ROLLOUT_EXIT_CODES = {
  ...{ complete: 0, gone: 1, failed: 3, 'rolled-back': 4, 'waiting-for-approval': 5 },
  ...{ held: 6, 'timed-out': 7, progressing: 8 },
} as const;

/** The codes of `experiment run` and `experiment status`, by the state of the experiment. */
export const EXPERIMENT_EXIT_CODES = {
  ...{ passed: 0, failed: 3, stopped: 4, inconclusive: 5 },
  ...{ 'timed-out': 7, running: 8, starting: 8 },
} as const;

/** The codes of `notifications test`, by the worst result. */
export const NOTIFICATIONS_EXIT_CODES = { sent: 0, failed: 3 } as const;

/** The codes of `scale`, by the outcome. */
export const SCALE_EXIT_CODES = { done: 0, 'would-do': 0, refused: 3, 'timed-out': 7 } as const;

/** An exit code of a command, for scripts. */
interface ExitCode {
  readonly code: string;
  readonly means: string;
}

const of = (code: number | string, means: string): ExitCode => ({ code: String(code), means });

/** The codes of every command. */
export const COMMON_EXIT_CODES: readonly ExitCode[] = [
  of(0, 'done'),
  of(1, 'failed, with the reason in one line on standard error'),
  of(USAGE_EXIT_CODE, 'invalid usage: nothing was attempted'),
];

const OF_EXPLANATIONS: readonly ExitCode[] = [
  of(0, 'complete or healthy: everything requested runs and is available'),
  of(STATE_EXIT_CODES.progressing, 'under way: rolling out, or waiting for a delay to pass'),
  of(STATE_EXIT_CODES.blocked, 'stuck until something else changes'),
  of(STATE_EXIT_CODES.degraded, 'degraded: rolled out, but fewer pods available than requested'),
  of(STATE_EXIT_CODES.paused, 'paused'),
  of(STATE_EXIT_CODES.deleting, 'being deleted'),
];

/** The codes beyond {@link COMMON_EXIT_CODES}, or more exact than those. A test compares them with those that commands set. */
export const EXIT_CODES: Readonly<Record<string, readonly ExitCode[]>> = {
  status: [of(0, 'the processes of `up` are shown'), of(1, 'nothing runs, or Redis does not answer')],
  doctor: [
    of(0, 'no warnings or failures'),
    of(DOCTOR_EXIT_CODES.warning, 'there are warnings'),
    of(DOCTOR_EXIT_CODES.failure, 'there are failures'),
  ],
  explain: OF_EXPLANATIONS,
  why: OF_EXPLANATIONS,
  problems: [of(0, 'nothing is stuck or degraded'), of(SOMETHING_IS_WRONG, 'some objects are')],
  rollout: [
    of(0, 'complete (status, wait); done (the other verbs)'),
    of(ROLLOUT_EXIT_CODES.failed, 'failed'),
    of(ROLLOUT_EXIT_CODES['rolled-back'], 'rolled back'),
    of(ROLLOUT_EXIT_CODES['waiting-for-approval'], 'waits for an approval'),
    of(ROLLOUT_EXIT_CODES.held, 'held by a window, a freeze, a budget or the queue of rollouts'),
    of(ROLLOUT_EXIT_CODES['timed-out'], 'timed out'),
    of(ROLLOUT_EXIT_CODES.progressing, 'under way (status --watch=false)'),
  ],
  experiment: [
    of(0, 'passed (run, status); done (the other verbs, and run --detach)'),
    of(EXPERIMENT_EXIT_CODES.failed, 'failed: a check did, or its pods were not available in time'),
    of(EXPERIMENT_EXIT_CODES.stopped, 'stopped by a request'),
    of(EXPERIMENT_EXIT_CODES.inconclusive, 'inconclusive: a check had no verdict when the time was over'),
    of(EXPERIMENT_EXIT_CODES['timed-out'], 'timed out: it goes on without the command'),
    of(EXPERIMENT_EXIT_CODES.running, 'under way (status)'),
  ],
  notifications: [
    of(0, 'each channel has taken the message'),
    of(1, 'no channel is named in the namespace, or no answer'),
    of(NOTIFICATIONS_EXIT_CODES.failed, 'a channel has not taken it'),
  ],
  release: [
    of(0, 'complete: each Deployment of the release is'),
    of(1, 'no Deployment names the release, or no answer'),
    of(ROLLOUT_EXIT_CODES.failed, 'a Deployment of it failed'),
    of(ROLLOUT_EXIT_CODES['rolled-back'], 'rolled back'),
    of(ROLLOUT_EXIT_CODES['waiting-for-approval'], 'waits for an approval'),
    of(ROLLOUT_EXIT_CODES.held, 'held'),
    of(ROLLOUT_EXIT_CODES.progressing, 'under way'),
  ],
  scale: [
    of(0, 'done'),
    of(SCALE_EXIT_CODES.refused, 'refused: nothing was changed'),
    of(SCALE_EXIT_CODES['timed-out'], 'timed out before the named pods were deleted'),
  ],
  diff: [of(0, 'nothing differs'), of(DIFFERS, 'something differs')],
  healthcheck: [of(0, 'ready'), of(1, 'not ready, or no answer')],
  'test-cluster': [
    of('N', 'exit code of the command'),
    of(126, 'the command cannot be run'),
    of(127, 'command not found'),
    of('128+N', 'terminated by signal N'),
  ],
};

/** The codes that a command can end with. */
export function exitCodesOf(command: string): readonly ExitCode[] {
  const own = EXIT_CODES[command] ?? [];
  const said = new Set(own.map(({ code }) => code));
  return [...COMMON_EXIT_CODES.filter(({ code }) => !said.has(code)), ...own].sort(
    (a, b) => rankOf(a) - rankOf(b),
  );
}

/** For the end of a command's help. */
export function exitCodesHelp(command: string): string {
  const codes = exitCodesOf(command);
  const width = Math.max(...codes.map(({ code }) => code.length));
  return ['', 'Exit codes:', ...codes.map(({ code, means }) => `  ${code.padEnd(width)}  ${means}`)].join(
    '\n',
  );
}

function rankOf({ code }: ExitCode): number {
  return Number.isNaN(Number(code)) ? Number.MAX_SAFE_INTEGER : Number(code);
}
