/** An exit code of a command, for scripts. */
export interface ExitCode {
  readonly code: string;
  readonly means: string;
}

const of = (code: number | string, means: string): ExitCode => ({ code: String(code), means });

/** Of every command. A command's own codes begin at 3. */
export const COMMON_EXIT_CODES: readonly ExitCode[] = [
  of(0, 'done'),
  of(1, 'failed, with the reason in one line on standard error'),
  of(2, 'invalid usage: nothing was attempted'),
];

const OF_EXPLANATIONS: readonly ExitCode[] = [
  of(0, 'complete or healthy: everything requested runs and is available'),
  of(3, 'under way: rolling out, or waiting for a delay to pass'),
  of(4, 'stuck until something else changes'),
  of(5, 'degraded: rolled out, but fewer pods available than requested'),
  of(6, 'paused'),
  of(7, 'being deleted'),
];

/** Beyond {@link COMMON_EXIT_CODES}, or more exact than those, as help, docs/CLI.md and the man page list them. A test compares the codes with those that commands set. */
export const EXIT_CODES: Readonly<Record<string, readonly ExitCode[]>> = {
  status: [of(0, 'the processes of `up` are shown'), of(1, 'nothing runs, or Redis does not answer')],
  doctor: [of(0, 'no warnings or failures'), of(3, 'there are warnings'), of(4, 'there are failures')],
  explain: OF_EXPLANATIONS,
  why: OF_EXPLANATIONS,
  problems: [of(0, 'nothing is stuck or degraded'), of(4, 'some objects are')],
  rollout: [
    of(0, 'complete (status, wait); done (the other verbs)'),
    of(3, 'failed'),
    of(4, 'rolled back'),
    of(5, 'waits for an approval'),
    of(6, 'held by a window, a freeze, a budget or the queue of rollouts'),
    of(7, 'timed out'),
    of(8, 'under way (status --watch=false)'),
  ],
  scale: [
    of(0, 'done'),
    of(3, 'refused: nothing was changed'),
    of(7, 'timed out before the named pods were deleted'),
  ],
  diff: [of(0, 'nothing differs'), of(3, 'something differs')],
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
