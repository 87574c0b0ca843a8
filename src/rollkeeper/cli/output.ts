import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';

/** `text` is for people, and what is printed where no form is named. */
export type OutputForm = 'text' | 'wide' | 'name' | 'json' | 'yaml';

export interface OutputFlags {
  readonly output?: string;
  /** The same as `--output json`. */
  readonly json?: boolean;
}

/** `-o, --output`, and `--json` as it was before. */
export function addOutputOptions(command: Command, forms: readonly OutputForm[]): Command {
  return command
    .option('-o, --output <form>', `${forms.join(', ')} (default: text)`)
    .option('--json', 'the same as -o json');
}

/** @throws InvalidOptionError */
export function outputForm<Form extends OutputForm>(
  { json, output }: OutputFlags,
  forms: readonly Form[],
): Form | 'text' {
  if (json && output !== undefined && output !== 'json')
    throw new InvalidOptionError('output', `"${output}" contradicts --json`);
  const wanted = json ? 'json' : (output ?? 'text');
  const form = wanted === 'text' ? wanted : forms.find((known) => known === wanted);
  if (form === undefined)
    throw new InvalidOptionError('output', `"${wanted}" is none of ${['text', ...forms].join(', ')}`);
  return form;
}

/** An object for programs. Integers that no double holds stay exact in both forms. */
export async function printable(form: 'json' | 'yaml', value: unknown): Promise<string> {
  if (form === 'json') {
    const { stringifyJson } = await import('@rollkeeper/machinery/kubernetes');
    return stringifyJson(value, 2);
  }
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 0 }).trimEnd();
}
