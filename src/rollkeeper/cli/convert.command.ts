import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { runOnce } from '@rollkeeper/machinery/process';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions, parseRef, readSeconds } from './shared-options.js';

interface ConvertFlags extends ApiFlags {
  readonly to?: string;
  readonly back?: boolean;
  readonly dryRun?: boolean;
  readonly timeout: string;
}

/** `rollkeeper convert`: moves a Deployment from one API to the other; its pods keep running. */
export function registerConvertCommand(program: Command): void {
  addApiOptions(program.command('convert'))
    .description(
      'make a Deployment of apps/v1 one of rollkeeper.dev/v1, or back; its pods live on. Ended half way, run it again',
    )
    .argument('<kind>', 'deployment')
    .argument('<name>', 'namespace/name, or a name in the namespace default')
    .option('--to <api>', 'rollkeeper.dev/v1 or apps/v1')
    .option('--back', 'the same as --to apps/v1')
    .option('--dry-run', 'say what would be done first, and do nothing')
    .option('--timeout <seconds>', 'how long to wait for a controller', '120')
    .action((kind: string, name: string, flags: ConvertFlags) => runOnce(() => convert(kind, name, flags)));
}

async function convert(kind: string, name: string, flags: ConvertFlags): Promise<void> {
  if (!/^deploy(ment)?s?$/i.test(kind))
    throw new InvalidOptionError('kind', `"${kind}" cannot be converted; only deployment can`);
  const seconds = readSeconds('timeout', flags.timeout);
  const ref = parseRef(name);
  // Imported lazily to keep other commands small.
  const { withApi } = await import('./live-deployment.js');
  const { DEPLOYMENT_APIS, deploymentTypeOf } = await import('@rollkeeper/controllers/deployment');
  const { runConversion } = await import('../convert/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const to = DEPLOYMENT_APIS.find((api) => api === wantedApi(flags));
  if (!to) throw new InvalidOptionError('to', `"${flags.to}" is none of ${DEPLOYMENT_APIS.join(', ')}`);
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
      report: (line) => console.log(line),
    }),
  );
}

function wantedApi({ back, to }: ConvertFlags): string {
  if (back && to !== undefined && to !== 'apps/v1')
    throw new InvalidOptionError('back', 'means --to apps/v1, and contradicts --to');
  if (!back && to === undefined)
    throw new InvalidOptionError('to', 'is required: rollkeeper.dev/v1 or apps/v1');
  return back ? 'apps/v1' : (to ?? '');
}
