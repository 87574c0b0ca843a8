import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { print, runOnce, runUntilStopped } from '@rollkeeper/machinery/process';
import type { TemplateChange } from '@rollkeeper/controllers/deployment';
import type { ChangeNote, RolloutTarget } from '../insight/rollout/index.js';
import type { ProgressFlags } from './rollout-progress.js';
import { DEFAULT_TIMEOUT, progressModeOf, showProgress } from './rollout-progress.js';
import { choices, outputForm, printable } from './output.js';
import { addApiOptions } from './shared-options.js';
import type { Target, TargetFlags } from './target.js';
import { ROLLOUT_TARGET_HELP, addNamespaceOption, parseRolloutTarget } from './target.js';

const VERBS = ['status', 'wait', 'history', 'undo', 'restart', 'pause', 'resume'] as const;
type Verb = (typeof VERBS)[number];

interface RolloutFlags extends ProgressFlags, TargetFlags {
  readonly revision?: string;
  readonly toRevision?: string;
  readonly diff?: readonly string[];
  readonly reason?: string;
  readonly by?: string;
  readonly dryRun?: boolean;
}

/** `rollkeeper rollout`: what `kubectl rollout` is for apps/v1, for Deployments of either API; and a wait that ends with a reason. */
export function registerRolloutCommand(program: Command): void {
  const command = addNamespaceOption(addApiOptions(program.command('rollout')))
    .description(
      'follow, wait for, list, undo, restart, pause or resume the rollout of a Deployment of either API (docs/ROLLOUTS.md)',
    )
    .argument('<verb>', VERBS.join(', '))
    .argument('<name...>', ROLLOUT_TARGET_HELP)
    .option('--api <api>', 'apps/v1 or rollkeeper.dev/v1 (default: the API that has it)')
    .option('--revision <number>', 'for history: show the details of this revision, and its pod template')
    .option(
      '--diff <numbers...>',
      'for history, after the name: show the difference between two revisions, or between one and the current one',
    )
    .option('--to-revision <number>', 'for undo (default: the previous one)')
    .option('--dry-run', 'for undo: show the changes without making them')
    .option('--reason <text>', 'for undo and restart: reason, for the history')
    .option('--by <who>', 'for undo and restart: requester, for the history (default: the user of the API)')
    .option('-w, --watch [boolean]', 'for status: false prints once and exits (default: true)')
    .option('--timeout <duration>', `for wait and status: 90s, 5m, or seconds (default: ${DEFAULT_TIMEOUT})`)
    .option('--until-approval', 'for wait and status: exit when an approval is needed')
    .option(
      '--until-held',
      'for wait and status: exit when a window, a freeze, a disruption budget or the queue of rollouts holds the rollout',
    )
    .option(
      '--bake-time <duration>',
      'for wait and status: how long to watch a complete rollout; 0 to skip this (default: rollkeeper.dev/bake-time)',
    )
    .option(
      '-o, --output <form>',
      'text or json; json is one object per change for wait and status, and all revisions for history; history also takes wide, name and yaml',
    )
    .option(
      '--github',
      'for wait and status: annotations for GitHub Actions (default: if GITHUB_ACTIONS is true)',
    )
    .option('--no-github', 'omit those annotations')
    .action((word: string, words: string[], flags: RolloutFlags) => rollout(word, words, flags));
  choices(command.registeredArguments[0], VERBS);
}

async function rollout(word: string, words: readonly string[], flags: RolloutFlags): Promise<void> {
  const verb = VERBS.find((known) => known === word);
  if (verb === 'status' || verb === 'wait')
    return runUntilStopped(async (signal) =>
      showProgress(progressModeOf(verb, flags), parseRolloutTarget(words, flags), flags, signal),
    );
  return runOnce(async () => {
    if (!verb) throw new InvalidOptionError('verb', `"${word}" is not one of ${VERBS.join(', ')}`);
    await change(verb, parseRolloutTarget(words, flags), flags);
  });
}

type ChangeVerb = Exclude<Verb, 'status' | 'wait'>;

async function change(verb: ChangeVerb, asked: Target, flags: RolloutFlags): Promise<void> {
  const compiled = {
    revision: readRevisionFlag('revision', flags.revision),
    toRevision: readRevisionFlag('to-revision', flags.toRevision),
    diff: readDiffFlag(flags.diff),
    form: readOutputFlag(flags.output, verb),
    dryRun: flags.dryRun ?? false,
    note: { reason: readText('reason', flags.reason), by: readText('by', flags.by) },
  };
  // Imported lazily to keep other commands small.
  const { findRollout } = await import('./live-deployment.js');
  const { withApi } = await import('./with-api.js');
  await withApi(flags, async (client) => {
    const target = { client, ...(await findRollout(client, asked)) };
    await carryOut(verb, target, compiled);
  });
}

interface CompiledFlags {
  readonly revision?: bigint;
  readonly toRevision?: bigint;
  readonly diff?: readonly [from: bigint, to?: bigint];
  readonly form: HistoryForm;
  readonly dryRun: boolean;
  readonly note: ChangeNote;
}

async function carryOut(verb: ChangeVerb, target: RolloutTarget, flags: CompiledFlags): Promise<void> {
  const { restartRollout, setPaused } = await import('../insight/rollout/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  if (verb === 'history') return showHistory(target, flags);
  if (verb === 'undo') {
    if (!(await undo(target, flags))) return;
  } else if (verb === 'restart') await restartRollout(target, new SystemClock(), flags.note);
  else await setPaused(target, verb === 'pause');
  const { qualifiedResource } = await import('@rollkeeper/machinery/kubernetes');
  const done = { undo: 'rolled back', restart: 'restarted', pause: 'paused', resume: 'resumed' }[verb];
  print(`${qualifiedResource(target.type)}/${target.deployment.metadata.name} ${done}`);
}

async function showHistory(target: RolloutTarget, { diff, form, revision }: CompiledFlags): Promise<void> {
  const { diffRevisions, readHistory, renderHistory } = await import('../insight/rollout/index.js');
  const isForPrograms = form === 'json' || form === 'yaml';
  if (diff) {
    const changes = await diffRevisions(target, ...diff);
    return print(isForPrograms ? await printable(form, changes) : await linesOf(changes));
  }
  if (form === 'text' || form === 'wide')
    return print(await renderHistory(target, { revision, isWide: form === 'wide' }));
  const all = await readHistory(target);
  const asked = all.filter((each) => revision === undefined || BigInt(each.revision) === revision);
  if (isForPrograms) return print(await printable(form, asked));
  print(asked.map(({ replicaSet }) => `replicaset.apps/${replicaSet}`).join('\n'));
}

/** Shows what it changes before it does. Returns whether it did. */
async function undo(target: RolloutTarget, { dryRun, note, toRevision }: CompiledFlags): Promise<boolean> {
  const { prepareUndo } = await import('../insight/rollout/index.js');
  const prepared = await prepareUndo(target, toRevision, note);
  print(await linesOf(prepared.changes));
  if (!dryRun) await prepared.apply();
  return !dryRun;
}

async function linesOf(changes: readonly TemplateChange[]): Promise<string> {
  const { renderChange } = await import('@rollkeeper/controllers/deployment');
  return changes.length === 0 ? 'nothing differs' : changes.map(renderChange).join('\n');
}

function readRevisionFlag(option: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,18}$/.test(text)) throw new InvalidOptionError(option, `"${text}" is not a revision number`);
  return BigInt(text);
}

function readDiffFlag(texts: readonly string[] | undefined): readonly [bigint, bigint?] | undefined {
  const [from, to] = (texts ?? []).map((text) => readRevisionFlag('diff', text));
  if ((texts?.length ?? 0) > 2)
    throw new InvalidOptionError('diff', 'takes one or two revisions, and comes after the name');
  return from === undefined ? undefined : [from, to];
}

const HISTORY_FORMS = ['wide', 'name', 'json', 'yaml'] as const;
type HistoryForm = 'text' | (typeof HISTORY_FORMS)[number];

/** Verbs that show no object take no other form than text. */
function readOutputFlag(output: string | undefined, verb: ChangeVerb): HistoryForm {
  return outputForm({ output }, verb === 'history' ? HISTORY_FORMS : ['json']);
}

function readText(option: string, text: string | undefined): string | undefined {
  if (text?.trim() === '') throw new InvalidOptionError(option, 'is empty');
  return text;
}
