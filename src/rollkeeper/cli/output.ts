import type { Argument, Command, Option } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { print } from '@rollkeeper/machinery/process';

/** `text` is for people, and what is printed where no form is named. */
export type OutputForm = 'text' | 'wide' | 'name' | 'json' | 'yaml';

export interface OutputFlags {
  readonly output?: string;
  /** The same as `--output json`. */
  readonly json?: boolean;
}

/** `-o, --output`, and `--json` as it was before. */
export function addOutputOptions(command: Command, forms: readonly OutputForm[]): Command {
  command.option('-o, --output <form>', 'output format (default: text)');
  choices(command.options.at(-1), ['text', ...forms]);
  return command.option('--json', 'the same as -o json');
}

/**
 * The values of an option or an argument, for help and completion. Other words are refused where they are read, in
 * words of our own, and not by commander.
 */
export function choices(of: Option | Argument | undefined, values: readonly string[]): void {
  if (of) of.argChoices = [...values];
}

/** @throws InvalidOptionError */
export function outputForm<Form extends OutputForm>(
  { json, output }: OutputFlags,
  forms: readonly Form[],
): Form | 'text' {
  if (json && output !== undefined && output !== 'json')
    throw new InvalidOptionError('output', `"${output}" conflicts with --json`);
  const wanted = json ? 'json' : (output ?? 'text');
  const form = wanted === 'text' ? wanted : forms.find((known) => known === wanted);
  if (form === undefined)
    throw new InvalidOptionError('output', `"${wanted}" is not one of ${['text', ...forms].join(', ')}`);
  return form;
}

/** `-w, --watch`, where a command shows a state. */
export function addWatchOption(command: Command, what: string): Command {
  return command.option('-w, --watch', `show ${what} again on each change, until Ctrl-C`);
}

/** How often a state is asked for while it is watched. */
const WATCH_EVERY_MS = 1000;

/** Prints once, or with `--watch` again at each change: over itself on a terminal, one after the other in a pipe. */
export async function printState(
  isWatched: boolean | undefined,
  read: () => Promise<string>,
  signal: AbortSignal,
): Promise<void> {
  if (!isWatched) return print(await read());
  const { keepShowing, viewFor } = await import('../terminal/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const given = { clock: new SystemClock(), everyMs: WATCH_EVERY_MS, signal };
  await keepShowing(viewFor(process.stdout), read, given);
}

/**
 * An object for programs. Integers that no double holds stay exact in both forms.
 * @param isOneOfMany `--watch`: JSON then is a line, and YAML a document
 */
export async function printable(form: 'json' | 'yaml', value: unknown, isOneOfMany = false): Promise<string> {
  return (await writerOf(form, !isOneOfMany))(value);
}

/** As {@link printable}, for values that come one after the other. */
export async function writerOf(
  form: 'json' | 'yaml',
  isOnlyOne: boolean,
): Promise<(value: unknown) => string> {
  if (form === 'json') {
    const { stringifyJson } = await import('@rollkeeper/machinery/kubernetes');
    return (value) => (isOnlyOne ? stringifyJson(value, 2) : stringifyJson(value));
  }
  const { stringify } = await import('yaml');
  const begin = isOnlyOne ? '' : '---\n';
  return (value) => `${begin}${stringify(value, { lineWidth: 0 }).trimEnd()}`;
}
