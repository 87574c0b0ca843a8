/** The predictable end of a command. */
export interface CommandEnd {
  readonly exitCode: number;
  /** Delay before the end. */
  readonly afterMs: number;
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'ash', 'dash']);
/** Keywords and characters that make the outcome of a script depend on more than the order of its statements. */
const BRANCHES = /[&|(){}`<>]|(?:^|[;\n])[^\S\n]*\$|\b(?:if|while|until|for|case|trap|exec|eval|set)\b/;
/** Commands that always succeed, so that what follows `&&` is reached. */
const SURE = /^(?::|true|echo|printf|date|sleep)(?:\s|$)/;
const QUOTED = /"(?:[^"`$]|\$(?!\())*"|'[^']*'/g;
const REDIRECTED = /(?<!\d)\d*>>?\s*(?:&\d|[^\s;&|]+)/g;

/**
 * How a command is certain to fail: `false`, or a simple shell script that reaches `exit` with a code other than 0, or
 * ends with `false`. Undefined for all others: nothing is run here, so the outcome of programs is unknown.
 */
export function failureOfCommand(argv: readonly string[]): CommandEnd | undefined {
  const [program = '', option, script] = argv;
  const name = nameOf(program);
  if (name === 'false') return { exitCode: 1, afterMs: 0 };
  const isScript = SHELLS.has(name) && /^-[a-z]*c$/.test(option ?? '') && script !== undefined;
  return isScript ? failureOfScript(script) : undefined;
}

function failureOfScript(script: string): CommandEnd | undefined {
  const code = script.replaceAll(QUOTED, 'text').replaceAll(REDIRECTED, '');
  const lines = code.split(/[;\n]/).map((line) => line.split('&&').map((text) => text.trim()));
  const isPlain = lines.every((line) => line.slice(0, -1).every((text) => SURE.test(text)));
  if (!isPlain || BRANCHES.test(code.replaceAll('&&', ';'))) return undefined;
  let afterMs = 0;
  let last = '';
  for (const statement of lines.flat()) {
    if (statement === '' || statement.startsWith('#')) continue;
    const exitCode = /^exit\s+(\d{1,3})$/.exec(statement)?.[1];
    if (exitCode !== undefined) return failed(Number(exitCode) % 256, afterMs);
    // Without a code it returns an unknown status.
    if (/^exit\b/.test(statement)) return undefined;
    const [, seconds] = /^sleep\s+(\d+(?:\.\d+)?)s?$/.exec(statement) ?? [];
    afterMs += Number(seconds ?? 0) * 1_000;
    last = statement;
  }
  return nameOf(last) === 'false' ? failed(1, afterMs) : undefined;
}

function failed(exitCode: number, afterMs: number): CommandEnd | undefined {
  return exitCode === 0 ? undefined : { exitCode, afterMs };
}

function nameOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}
