import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { print, runOnce } from '@rollkeeper/machinery/process';
import { namesOf } from '@rollkeeper/machinery/names-of';
import type { RolloutRequest } from '../insight/rollout/index.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions } from './shared-options.js';
import type { TargetFlags } from './target.js';
import { ROLLOUT_TARGET_HELP, addNamespaceOption, parseRolloutTarget } from './target.js';

interface RequestFlags extends ApiFlags, TargetFlags {
  readonly by?: string;
}

const DESCRIPTIONS: Readonly<Record<RolloutRequest, string>> = {
  promote: 'approve the step at which a rollout waits, to continue it (docs/ROLLOUTS.md)',
  abort: 'roll back to the last good revision, and do not retry the template',
  retry: 'retry a template that failed or was aborted',
};

/** `rollkeeper promote`, `abort` and `retry`: what a person says to a rollout that looks after itself. */
export function registerRolloutRequestCommands(program: Command): void {
  for (const request of namesOf(DESCRIPTIONS))
    addNamespaceOption(addApiOptions(program.command(request)))
      .description(DESCRIPTIONS[request])
      .argument('<name...>', ROLLOUT_TARGET_HELP)
      .option('--api <api>', 'apps/v1 or rollkeeper.dev/v1 (default: the API that has it)')
      .option('--by <who>', 'requester to record (default: the local user)')
      .action((words: string[], flags: RequestFlags) => runOnce(() => ask(request, words, flags)));
}

async function ask(request: RolloutRequest, words: readonly string[], flags: RequestFlags): Promise<void> {
  const asked = parseRolloutTarget(words, flags);
  const by = flags.by ?? userInfo().username;
  if (by.trim() === '') throw new InvalidOptionError('by', 'is empty');
  // Imported lazily to keep other commands small.
  const { findRollout } = await import('./live-deployment.js');
  const { withApi } = await import('./with-api.js');
  const { requestOfRollout } = await import('../insight/rollout/index.js');
  await withApi(flags, async (client) => {
    const target = { client, ...(await findRollout(client, asked)) };
    print(await requestOfRollout(target, request, by));
  });
}
