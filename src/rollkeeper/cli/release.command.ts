import type { Command } from 'commander';
import { InvalidOptionError, UnsupportedError } from '@rollkeeper/machinery/errors';
import { runUntilStopped } from '@rollkeeper/machinery/process';
import { ROLLOUT_EXIT_CODES } from '../terminal/exit-codes.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions, addWatchOption, choices, outputForm, printState, printable } from './output.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions } from './shared-options.js';

const VERBS = ['status'] as const;
const FORMS = ['json', 'yaml'] as const;

interface ReleaseFlags extends ApiFlags, OutputFlags {
  readonly namespace: string;
  readonly api?: string;
  readonly watch?: boolean;
}

/** `rollkeeper release`: the Deployments that change together, as one. */
export function registerReleaseCommand(program: Command): void {
  const command = addOutputOptions(addApiOptions(program.command('release')), FORMS);
  addWatchOption(command, 'the release')
    .description(
      'show the Deployments of a release (rollkeeper.dev/release), and its state as a whole (docs/ROLLOUTS.md)',
    )
    .argument('<verb>', VERBS.join(', '))
    .argument('<release>', 'the name of the release, such as shop-42')
    .option('-n, --namespace <name>', 'the namespace of the Deployments', 'default')
    .option('--api <api>', 'apps/v1 or rollkeeper.dev/v1 (default: apps/v1)')
    .action((verb: string, release: string, flags: ReleaseFlags) =>
      runUntilStopped((signal) => show(verb, release, flags, signal)),
    );
  choices(command.registeredArguments[0], VERBS);
}

async function show(verb: string, release: string, flags: ReleaseFlags, signal: AbortSignal): Promise<void> {
  if (!VERBS.some((known) => known === verb))
    throw new InvalidOptionError('verb', `"${verb}" is not one of ${VERBS.join(', ')}`);
  const form = outputForm(flags, FORMS);
  // Imported lazily to keep other commands small.
  const { DEPLOYMENT_APIS } = await import('@rollkeeper/controllers/deployment');
  const api = DEPLOYMENT_APIS.find((known) => known === (flags.api ?? 'apps/v1'));
  if (!api) throw new InvalidOptionError('api', `"${flags.api}" is not one of ${DEPLOYMENT_APIS.join(', ')}`);
  const { withApi } = await import('./with-api.js');
  const { readRelease, renderRelease } = await import('../insight/rollout/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const { namespace } = flags;
  const clock = new SystemClock();
  await withApi(flags, (client) =>
    printState(
      flags.watch,
      async () => {
        const report = await readRelease(client, { release, namespace, api, nowMs: clock.now() });
        if (!report)
          throw new UnsupportedError(`no Deployment of namespace ${namespace} has release ${release}`);
        process.exitCode = ROLLOUT_EXIT_CODES[report.outcome];
        return form === 'text' ? renderRelease(report) : printable(form, report, flags.watch);
      },
      signal,
    ),
  );
}
