import type { Command } from 'commander';
import { StartupError } from '@rollkeeper/machinery/errors';
import { runUntilStopped } from '@rollkeeper/machinery/process';
import { styleFor } from '../terminal/index.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions, addWatchOption, outputForm, printState, printable } from './output.js';
import { dataDirOption } from './shared-options.js';

interface StatusFlags extends OutputFlags {
  readonly dataDir: string;
  readonly watch?: boolean;
}

const FORMS = ['wide', 'name', 'json', 'yaml'] as const;

/** `rollkeeper status`: lists the processes of `up`, and the leader. */
export function registerStatusCommand(program: Command): void {
  const command = addOutputOptions(program.command('status'), FORMS);
  addWatchOption(command, 'the state')
    .description('show the processes of `up`, the leader, and whether Redis answers')
    .addOption(dataDirOption())
    .action((flags: StatusFlags) =>
      runUntilStopped((signal) => printState(flags.watch, () => statusText(flags), signal)),
    );
}

async function statusText(flags: StatusFlags): Promise<string> {
  const { dataDir, watch } = flags;
  const form = outputForm(flags, FORMS);
  // Imported lazily to keep other commands small.
  const { nameUpStatus, readUpStatus, renderUpStatus } = await import('../replica/supervisor/index.js');
  const status = await readUpStatus(dataDir);
  if (!status) throw new StartupError(`nothing is running from ${dataDir}; start it with \`npm start\``);
  process.exitCode = status.redis && !status.redis.answers ? 1 : 0;
  if (form === 'name') return nameUpStatus(status);
  // `--json` has been one line from the beginning.
  if (flags.json) return printable('json', status, true);
  if (form === 'json' || form === 'yaml') return printable(form, status, watch);
  return renderUpStatus(status, { isWide: form === 'wide', style: styleFor(process.stdout, process.env) });
}
