import { DIFFERS } from '../terminal/exit-codes.js';
import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { print, runOnce } from '@rollkeeper/machinery/process';
import { styleFor } from '../terminal/index.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions, outputForm, printable } from './output.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions } from './shared-options.js';
import type { TargetFlags } from './target.js';
import { TARGET_HELP, addNamespaceOption, parseTarget } from './target.js';

interface DiffFlags extends ApiFlags, TargetFlags, OutputFlags {
  readonly showValues?: boolean;
}

const FORMS = ['json', 'yaml'] as const;

/** `rollkeeper diff`: what differs between two revisions, as a person reads it. */
export function registerDiffCommand(program: Command): void {
  const command = addNamespaceOption(addApiOptions(program.command('diff')));
  addOutputOptions(command, FORMS)
    .description(
      'show the differences between revisions of a Deployment: images, environment, resources, probes, and the rest',
    )
    .argument(
      '<name...>',
      `${TARGET_HELP}; then one revision to compare with the current one, or two (default: the previous and the current one)`,
    )
    .option('--api <api>', 'apps/v1 or rollkeeper.dev/v1 (default: the API that has it)')
    .option(
      '--show-values',
      'show values that may be secret: of variables, arguments, headers and annotations (default: only that they differ)',
    )
    .action((words: string[], flags: DiffFlags) => runOnce(() => diff(words, flags)));
}

async function diff(words: readonly string[], flags: DiffFlags): Promise<void> {
  const form = outputForm(flags, FORMS);
  const { name, revisions } = splitRevisions(words);
  const { api, ref } = parseTarget(name, flags);
  // Imported lazily to keep other commands small.
  const { findDeployment } = await import('./live-deployment.js');
  const { withApi } = await import('./with-api.js');
  const { compareRevisions, renderDiff } = await import('../insight/rollout/index.js');
  const { qualifiedResource } = await import('@rollkeeper/machinery/kubernetes');
  const { found, title } = await withApi(flags, async (client) => {
    const target = { client, ...(await findDeployment(client, ref, api)) };
    return {
      found: await compareRevisions(target, revisions, { showValues: flags.showValues }),
      title: `${qualifiedResource(target.type)}/${ref.name}`,
    };
  });
  print(
    form === 'text'
      ? renderDiff(title, found, styleFor(process.stdout, process.env))
      : await printable(form, found),
  );
  process.exitCode = found.changes.length === 0 ? 0 : DIFFERS;
}

/** The numbers at the end are revisions; a name of digits alone is said as `deployment/123`. */
export function splitRevisions(words: readonly string[]): {
  readonly name: readonly string[];
  readonly revisions: readonly bigint[];
} {
  const end = words.findLastIndex((word) => !/^\d+$/.test(word)) + 1;
  const [name, numbers] = [words.slice(0, end), words.slice(end)];
  if (name.length === 0) throw new InvalidOptionError('name', 'is missing before the revisions');
  if (numbers.length > 2) throw new InvalidOptionError('revision', `at most two: "${numbers.join(' ')}"`);
  const wrong = numbers.find((number) => number.length > 18);
  if (wrong !== undefined) throw new InvalidOptionError('revision', `"${wrong}" is not a revision number`);
  return { name, revisions: numbers.map(BigInt) };
}
