import type { Command } from 'commander';
import { pause } from '@rollkeeper/machinery/clock';
import { ExpectedError, InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import { endSoon, print, printError, runUntilStopped } from '@rollkeeper/machinery/process';
import { styleFor } from '../terminal/index.js';
import type { TopView } from './top/index.js';
import type { AdminClientFlags } from './admin-client.js';
import { addAdminOptions, askAdmin, knowsReplica } from './admin-client.js';
import type { OutputFlags, OutputForm } from './output.js';
import { addOutputOptions, outputForm, writerOf } from './output.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions, readSeconds } from './shared-options.js';

interface TopFlags extends AdminClientFlags, ApiFlags, OutputFlags {
  readonly namespace?: string;
  readonly once?: boolean;
  readonly interval: string;
}

const FORMS = ['name', 'json', 'yaml'] as const;

/** `rollkeeper top`: what moves now. */
export function registerTopCommand(program: Command): void {
  const command = addAdminOptions(program.command('top'));
  addOutputOptions(
    addApiOptions(
      command,
      "ask no replica; use only the objects of this API (default, if no replica is known: kubectl's rules)",
    ),
    FORMS,
  )
    .description(
      'show current activity: rollouts with their sizes, queues and replicas; redraws on a terminal, prints a line for each change in a pipe',
    )
    .option('-n, --namespace <name>', 'only this namespace (default: all)')
    .option('--once', 'print once and exit')
    .option('--interval <seconds>', 'time between refreshes', '1')
    .action((flags: TopFlags) => runUntilStopped((signal) => top(flags, signal)));
}

async function top(flags: TopFlags, signal: AbortSignal): Promise<void> {
  const form = outputForm(flags, FORMS);
  const everyMs = readSeconds('interval', flags.interval) * 1000;
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const clock = new SystemClock();
  const show = await printerFor(form, flags.once === true);
  await withReader(flags, signal, async (read) => {
    show(await read(clock.now()));
    while (!flags.once && (await pause(clock, everyMs, signal))) {
      const view = await unlessFailing(read(clock.now()));
      if (view) show(view);
    }
  });
  void endSoon();
}

/** Replicas come and go, and so do answers: only where the first one is missing there is nothing to show. */
async function unlessFailing(reading: Promise<TopView>): Promise<TopView | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    printError(`rollkeeper: ${errorMessage(error)}; retrying`);
    return undefined;
  }
}

type ReadTop = (nowMs: number) => Promise<TopView>;

async function withReader(
  flags: TopFlags,
  signal: AbortSignal,
  work: (read: ReadTop) => Promise<void>,
): Promise<void> {
  const { readTopFromApi, readTopFromReplica } = await import('./top/index.js');
  const { context, kubeconfig, namespace } = flags;
  if (namespace === '') throw new InvalidOptionError('namespace', 'is empty');
  const isOfApi = kubeconfig !== undefined || context !== undefined;
  if (!isOfApi && (await knowsReplica(flags)))
    return work((nowMs) => readTopFromReplica((path) => askAdmin(flags, path), nowMs, namespace));
  const { withApi } = await import('./with-api.js');
  return withApi(flags, (client) => work((nowMs) => readTopFromApi(client, { namespace, nowMs, signal })));
}

/** How each view is printed: over the one before on a terminal, what has changed in a pipe, whole for programs. */
async function printerFor(form: OutputForm, once: boolean): Promise<(view: TopView) => void> {
  const { linesOfChange, renderTop } = await import('./top/index.js');
  const { viewFor } = await import('../terminal/index.js');
  if (form === 'json' || form === 'yaml') {
    const write = await writerOf(form, once);
    return (view) => print(write(view));
  }
  if (form === 'name') return ({ rollouts }) => rollouts.forEach((rollout) => print(nameOf(rollout)));
  const style = styleFor(process.stdout, process.env);
  if (once) return (view) => print(renderTop(view, style));
  if (process.stdout.isTTY) {
    const terminal = viewFor(process.stdout);
    return (view) => terminal.show(renderTop(view, style));
  }
  let before: TopView | undefined;
  return (view) => {
    for (const line of linesOfChange(before, view)) print(line);
    before = view;
  };
}

function nameOf({ apiVersion, name }: TopView['rollouts'][number]): string {
  return `deployment.${apiVersion.split('/')[0] ?? ''}/${name}`;
}
