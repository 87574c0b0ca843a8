import type { Command } from 'commander';
import { runUntilStopped } from '@rollkeeper/machinery/process';
import { styleFor } from '../terminal/index.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions, addWatchOption, outputForm, printState, printable } from './output.js';
import { readDuration } from './rollout-progress.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions } from './shared-options.js';
import type { TargetFlags } from './target.js';
import { TARGET_HELP, addNamespaceOption, parseTarget } from './target.js';

interface TimelineFlags extends ApiFlags, TargetFlags, OutputFlags {
  readonly since?: string;
  readonly events: boolean;
  readonly watch?: boolean;
}

const FORMS = ['json', 'yaml'] as const;

/** `rollkeeper timeline`: what was asked of a Deployment, by whom, when, and how it ended. */
export function registerTimelineCommand(program: Command): void {
  const command = addNamespaceOption(addApiOptions(program.command('timeline')));
  addWatchOption(addOutputOptions(command, FORMS), 'the timeline')
    .description(
      'show the changes of a Deployment, with user, time, client and result, and its size over time if its history is kept (rollkeeper.dev/history: 14d)',
    )
    .argument('<name...>', TARGET_HELP)
    .option('--api <api>', 'apps/v1 or rollkeeper.dev/v1 (default: the API that has it)')
    .option('--since <duration>', 'only newer entries: 30m, 24h')
    .option('--no-events', 'omit the Events of the Deployment and its ReplicaSets, kept for an hour')
    .action((words: string[], flags: TimelineFlags) =>
      runUntilStopped((signal) => printState(flags.watch, () => timelineText(words, flags), signal)),
    );
}

async function timelineText(words: readonly string[], flags: TimelineFlags): Promise<string> {
  const form = outputForm(flags, FORMS);
  const { api, ref } = parseTarget(words, flags);
  const agoMs = flags.since === undefined ? undefined : await readDuration('since', flags.since);
  // Imported lazily to keep other commands small.
  const { findDeployment } = await import('./live-deployment.js');
  const { withApi } = await import('./with-api.js');
  const { readWholeTimeline, renderTimeline } = await import('../insight/rollout/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const since = agoMs === undefined ? {} : { sinceMs: new SystemClock().now() - agoMs };
  const { entries, notes } = await withApi(flags, async (client) => {
    const target = { client, ...(await findDeployment(client, ref, api)) };
    return readWholeTimeline(target, { withEvents: flags.events, ...since });
  });
  if (form !== 'text') return printable(form, entries, flags.watch);
  const style = styleFor(process.stdout, process.env);
  return [renderTimeline(entries, style), ...notes.map(style.faint)].join('\n');
}
