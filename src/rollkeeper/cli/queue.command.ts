import type { Command } from 'commander';
import type { QueueAnswer } from '../admin/index.js';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { runOnce } from '@rollkeeper/machinery/process';
import type { AdminClientFlags } from './admin-client.js';
import { addAdminOptions, askAdmin } from './admin-client.js';

const VERBS = ['show', 'requeue', 'park', 'unpark', 'purge'] as const;

interface QueueFlags extends AdminClientFlags {
  readonly json?: boolean;
}

/** `rollkeeper queue`: shows and manages the keys of a queue. */
export function registerQueueCommand(program: Command): void {
  addAdminOptions(program.command('queue'))
    .description('show the keys of a queue; requeue, park, unpark or purge one')
    .argument('<verb>', VERBS.join(', '))
    .argument('<controller>', 'deployment, replicaset, garbage-collector or namespace')
    .argument('[key]', 'namespace/name; for all but show')
    .option('--json', 'as JSON')
    .action((verb: string, controller: string, key: string | undefined, flags: QueueFlags) =>
      runOnce(async () => console.log(await run(verb, controller, key, flags))),
    );
}

async function run(
  verb: string,
  controller: string,
  key: string | undefined,
  flags: QueueFlags,
): Promise<string> {
  const path = `/admin/queues/${encodeURIComponent(controller)}`;
  if (!VERBS.some((known) => known === verb))
    throw new InvalidOptionError('verb', `"${verb}" is none of ${VERBS.join(', ')}`);
  if (verb === 'show') {
    const answer = (await askAdmin(flags, path)) as QueueAnswer;
    return flags.json ? JSON.stringify(answer, null, 2) : renderQueue(answer);
  }
  if (key === undefined) throw new InvalidOptionError('key', `is needed to ${verb} it`);
  const answer = await askAdmin(flags, `${path}/${verb}`, { body: { key } });
  return flags.json ? JSON.stringify(answer, null, 2) : `${controller} ${key}: ${verb} done`;
}

function renderQueue({ counts, delayed, parked, running, waiting }: QueueAnswer): string {
  const time = (epochMs: number): string => new Date(epochMs).toISOString();
  return [
    `${counts.waiting} waiting, ${counts.active} running, ${counts.delayed} delayed, ${counts.parked} parked`,
    ...running.map(
      ({ key, overdueSinceMs, replica, sinceMs }) =>
        `running  ${key}  on ${replica} since ${time(sinceMs)}${overdueSinceMs === undefined ? '' : `; took too long, told to end at ${time(overdueSinceMs)}`}`,
    ),
    ...waiting.map(({ key, reason, sinceMs }) => `waiting  ${key}  since ${time(sinceMs)} (${reason})`),
    ...delayed.map(
      ({ dueMs, failures, key }) => `delayed  ${key}  until ${time(dueMs)}, ${failures} failures`,
    ),
    ...parked.map(
      ({ error, key, nextTryMs, parkedAtMs, retries }) =>
        `parked   ${key}  since ${time(parkedAtMs)} after ${retries} retries${nextTryMs === undefined ? '' : `, next try ${time(nextTryMs)}`}: ${error}`,
    ),
  ].join('\n');
}
