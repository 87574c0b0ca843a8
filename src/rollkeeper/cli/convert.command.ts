import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { print, runOnce } from '@rollkeeper/machinery/process';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions, readSeconds } from './shared-options.js';
import type { TargetFlags } from './target.js';
import { TARGET_HELP, addNamespaceOption, parseTarget } from './target.js';

interface ConvertFlags extends ApiFlags, Pick<TargetFlags, 'namespace'> {
  readonly to?: string;
  readonly back?: boolean;
  readonly dryRun?: boolean;
  readonly timeout: string;
}

/** `rollkeeper convert`: moves a Deployment from one API to the other; its pods keep running. */
export function registerConvertCommand(program: Command): void {
  addNamespaceOption(addApiOptions(program.command('convert')))
    .description(
      'convert a Deployment from apps/v1 to rollkeeper.dev/v1, or back; its pods keep running. If interrupted, run it again',
    )
    .argument('<name...>', TARGET_HELP)
    .option('--to <api>', 'rollkeeper.dev/v1 or apps/v1')
    .option('--back', 'the same as --to apps/v1')
    .option('--dry-run', 'only print the first step')
    .option('--timeout <seconds>', 'how long to wait for a controller', '120')
    .action((words: string[], flags: ConvertFlags) => runOnce(() => convert(words, flags)));
}

async function convert(words: readonly string[], flags: ConvertFlags): Promise<void> {
  const seconds = readSeconds('timeout', flags.timeout);
  const { api, ref } = parseTarget(words, flags);
  if (api !== undefined) throw new InvalidOptionError('kind', 'must not name an API; use --to');
  // Imported lazily to keep other commands small.
  const { withApi } = await import('./with-api.js');
  const { DEPLOYMENT_APIS, deploymentTypeOf } = await import('@rollkeeper/controllers/deployment');
  const { runConversion } = await import('./convert/run-conversion.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const to = DEPLOYMENT_APIS.find((api) => api === wantedApi(flags));
  if (!to) throw new InvalidOptionError('to', `"${flags.to}" is not one of ${DEPLOYMENT_APIS.join(', ')}`);
  const from = DEPLOYMENT_APIS.find((api) => api !== to) ?? to;
  await withApi(flags, (client) =>
    runConversion({
      client,
      clock: new SystemClock(),
      ref,
      from: deploymentTypeOf(from),
      to: deploymentTypeOf(to),
      timeoutMs: seconds * 1000,
      dryRun: flags.dryRun,
      report: print,
    }),
  );
}

function wantedApi({ back, to }: ConvertFlags): string {
  if (back && to !== undefined && to !== 'apps/v1')
    throw new InvalidOptionError('back', 'means --to apps/v1, and conflicts with --to');
  if (!back && to === undefined)
    throw new InvalidOptionError('to', 'is required: rollkeeper.dev/v1 or apps/v1');
  return back ? 'apps/v1' : (to ?? '');
}
