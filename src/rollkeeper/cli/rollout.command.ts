import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { runOnce, runUntilStopped } from '@rollkeeper/machinery/process';
import type { RolloutTarget } from '../rollout/index.js';
import type { ProgressFlags } from './rollout-progress.js';
import { DEFAULT_TIMEOUT, progressModeOf, showProgress } from './rollout-progress.js';
import { addApiOptions } from './shared-options.js';
import type { Target, TargetFlags } from './target.js';
import { TARGET_HELP, addNamespaceOption, parseTarget } from './target.js';

const VERBS = ['status', 'wait', 'history', 'undo', 'restart', 'pause', 'resume'] as const;
type Verb = (typeof VERBS)[number];

interface RolloutFlags extends ProgressFlags, TargetFlags {
  readonly revision?: string;
  readonly toRevision?: string;
}

/** `rollkeeper rollout`: what `kubectl rollout` is for apps/v1, for Deployments of either API; and a wait that ends with a reason. */
export function registerRolloutCommand(program: Command): void {
  addNamespaceOption(addApiOptions(program.command('rollout')))
    .description(
      'follow, wait for, list, undo, restart, pause or resume the rollout of a Deployment of either API. Exit code of status and wait: 0 complete, 3 failed, 4 rolled back, 5 waits for an approval, 6 held, 7 timed out, 8 on its way (docs/ROLLOUTS.md)',
    )
    .argument('<verb>', VERBS.join(', '))
    .argument('<name...>', TARGET_HELP)
    .option('--api <api>', 'apps/v1 or rollkeeper.dev/v1 (default: the one that has it)')
    .option('--revision <number>', 'for history: show the pod template of this one')
    .option('--to-revision <number>', 'for undo (default: the one before)')
    .option('-w, --watch [boolean]', 'for status: false looks once and ends (default: true)')
    .option('--timeout <duration>', `for wait and status: 90s, 5m, or seconds (default: ${DEFAULT_TIMEOUT})`)
    .option('--until-approval', 'for wait and status: end where an approval is waited for')
    .option(
      '--until-held',
      'for wait and status: end where a window, a freeze, a disruption budget or the queue of rollouts holds the rollout',
    )
    .option(
      '--bake-time <duration>',
      'for wait and status: how long a complete rollout is watched; 0 for not at all (default: as rollkeeper.dev/bake-time says)',
    )
    .option('-o, --output <form>', 'for wait and status: text, or json for one object for each change')
    .option(
      '--github',
      'for wait and status: annotations for GitHub Actions (default: where GITHUB_ACTIONS is true)',
    )
    .option('--no-github', 'no such annotations')
    .action((word: string, words: string[], flags: RolloutFlags) => rollout(word, words, flags));
}

async function rollout(word: string, words: readonly string[], flags: RolloutFlags): Promise<void> {
  const verb = VERBS.find((known) => known === word);
  if (verb === 'status' || verb === 'wait')
    return runUntilStopped(async (signal) =>
      showProgress(progressModeOf(verb, flags), parseTarget(words, flags), flags, signal),
    );
  return runOnce(async () => {
    if (!verb) throw new InvalidOptionError('verb', `"${word}" is none of ${VERBS.join(', ')}`);
    await change(verb, parseTarget(words, flags), flags);
  });
}

type ChangeVerb = Exclude<Verb, 'status' | 'wait'>;

async function change(verb: ChangeVerb, { api, ref }: Target, flags: RolloutFlags): Promise<void> {
  const compiled = {
    revision: readRevisionFlag('revision', flags.revision),
    toRevision: readRevisionFlag('to-revision', flags.toRevision),
  };
  // Imported lazily to keep other commands small.
  const { findDeployment, withApi } = await import('./live-deployment.js');
  await withApi(flags, async (client) => {
    const target = { client, ...(await findDeployment(client, ref, api)) };
    await carryOut(verb, target, compiled);
  });
}

interface CompiledFlags {
  readonly revision?: bigint;
  readonly toRevision?: bigint;
}

async function carryOut(
  verb: ChangeVerb,
  target: RolloutTarget,
  { revision, toRevision }: CompiledFlags,
): Promise<void> {
  const { renderHistory, restartRollout, setPaused, undoRollout } = await import('../rollout/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const report = (line: string): void => console.log(line);
  if (verb === 'history') return report(await renderHistory(target, revision));
  if (verb === 'undo') await undoRollout(target, toRevision);
  else if (verb === 'restart') await restartRollout(target, new SystemClock());
  else await setPaused(target, verb === 'pause');
  const { qualifiedResource } = await import('@rollkeeper/machinery/kubernetes');
  const done = { undo: 'rolled back', restart: 'restarted', pause: 'paused', resume: 'resumed' }[verb];
  report(`${qualifiedResource(target.type)}/${target.deployment.metadata.name} ${done}`);
}

function readRevisionFlag(option: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,18}$/.test(text))
    throw new InvalidOptionError(option, `"${text}" is not the number of a revision`);
  return BigInt(text);
}
