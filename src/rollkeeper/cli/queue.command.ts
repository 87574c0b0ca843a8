import type { Command } from 'commander';
import type { QueueAnswer } from '../admin/server/index.js';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { print, runUntilStopped } from '@rollkeeper/machinery/process';
import type { Style } from '../terminal/index.js';
import { styleFor } from '../terminal/index.js';
import type { AdminClientFlags } from './admin-client.js';
import { addAdminOptions, askAdmin } from './admin-client.js';
import type { OutputFlags, OutputForm } from './output.js';
import { addOutputOptions, addWatchOption, choices, outputForm, printState, printable } from './output.js';

const VERBS = ['show', 'requeue', 'park', 'unpark', 'purge'] as const;

const FORMS = ['name', 'json', 'yaml'] as const;

interface QueueFlags extends AdminClientFlags, OutputFlags {
  readonly watch?: boolean;
}

/** `rollkeeper queue`: shows and manages the keys of a queue. */
export function registerQueueCommand(program: Command): void {
  const command = addOutputOptions(addAdminOptions(program.command('queue')), FORMS);
  addWatchOption(command, 'the keys')
    .description('show the keys of a queue; requeue, park, unpark or purge one')
    .argument('<verb>', VERBS.join(', '))
    .argument('<controller>', 'deployment, replicaset, garbage-collector or namespace')
    .argument('[key]', 'namespace/name; not for show')
    .action((verb: string, controller: string, key: string | undefined, flags: QueueFlags) =>
      runUntilStopped((signal) => run(verb, controller, { key, flags }, signal)),
    );
  choices(command.registeredArguments[0], VERBS);
  choices(command.registeredArguments[1], ['deployment', 'replicaset', 'garbage-collector', 'namespace']);
}

async function run(
  verb: string,
  controller: string,
  { flags, key }: { readonly flags: QueueFlags; readonly key?: string },
  signal: AbortSignal,
): Promise<void> {
  const path = `/admin/queues/${encodeURIComponent(controller)}`;
  if (!VERBS.some((known) => known === verb))
    throw new InvalidOptionError('verb', `"${verb}" is not one of ${VERBS.join(', ')}`);
  const form = outputForm(flags, FORMS);
  if (verb === 'show')
    return printState(
      flags.watch,
      async () => queueText(await askAdmin<QueueAnswer>(flags, path), form, flags),
      signal,
    );
  if (flags.watch) throw new InvalidOptionError('watch', 'is only for show');
  if (key === undefined) throw new InvalidOptionError('key', `is required for ${verb}`);
  const answer = await askAdmin(flags, `${path}/${verb}`, { body: { key } });
  const isForPrograms = form === 'json' || form === 'yaml';
  print(isForPrograms ? await printable(form, answer) : `${controller} ${key}: ${verb} done`);
}

async function queueText(
  answer: QueueAnswer,
  form: OutputForm,
  { watch }: Pick<QueueFlags, 'watch'>,
): Promise<string> {
  const { delayed, parked, running, waiting } = answer;
  if (form === 'name')
    return [...running, ...waiting, ...delayed, ...parked].map(({ key }) => key).join('\n');
  if (form === 'json' || form === 'yaml') return printable(form, answer, watch);
  return renderQueue(answer, styleFor(process.stdout, process.env));
}

function renderQueue({ counts, delayed, parked, running, waiting }: QueueAnswer, style: Style): string {
  const time = (epochMs: number): string => new Date(epochMs).toISOString();
  return [
    `${counts.waiting} waiting, ${counts.active} running, ${counts.delayed} delayed, ${counts.parked} parked`,
    ...running.map(
      ({ key, overdueSinceMs, replica, sinceMs }) =>
        `running  ${key}  on ${replica} since ${time(sinceMs)}${overdueSinceMs === undefined ? '' : `; exceeded its timeout, cancelled at ${time(overdueSinceMs)}`}`,
    ),
    ...waiting.map(({ key, reason, sinceMs }) => `waiting  ${key}  since ${time(sinceMs)} (${reason})`),
    ...delayed.map(
      ({ dueMs, failures, key }) => `delayed  ${key}  until ${time(dueMs)}, ${failures} failures`,
    ),
    ...parked.map(
      ({ error, key, nextTryMs, parkedAtMs, retries }) =>
        `${style.bad('parked')}   ${key}  since ${time(parkedAtMs)} after ${retries} retries${nextTryMs === undefined ? '' : `, next try ${time(nextTryMs)}`}: ${error}`,
    ),
  ].join('\n');
}
