/** How a command ends that says so itself. */
export interface CommandEnd {
  readonly exitCode: number;
  /** How long it sleeps before. */
  readonly afterMs: number;
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'ash', 'dash']);
/** Words and signs by which it is not decided by the order of the statements alone how a script goes. */
const BRANCHES = /[&|(){}`<>]|(?:^|[;\n])\s*\$|\b(?:if|while|until|for|case|trap|exec|eval|set)\b/;
/** Commands that do not fail, so that what comes after `&&` is reached. */
const SURE = /^(?::|true|echo|printf|date|sleep)(?:\s|$)/;
const QUOTED = /"(?:[^"`$]|\$(?!\())*"|'[^']*'/g;
const REDIRECTED = /\d*>>?\s*(?:&\d|[^\s;&|]+)/g;

/**
 * How a command fails for certain: `false`, or a shell's plain script that comes to `exit` with another code than 0, or ends with `false`.
 * Undefined for all others: nothing is run here, so what programs do cannot be known.
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
    // Without a code it passes on what cannot be known.
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
