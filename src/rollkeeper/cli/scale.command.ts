import { SCALE_EXIT_CODES } from '../terminal/exit-codes.js';
import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { print, printError, runUntilStopped } from '@rollkeeper/machinery/process';
import type { ScaleEnd, ScaleRequest } from '../insight/rollout/index.js';
import { readDuration } from './rollout-progress.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions, parseRef } from './shared-options.js';
import type { TargetFlags } from './target.js';
import { addNamespaceOption, parseTarget } from './target.js';

interface ScaleFlags extends ApiFlags, TargetFlags {
  readonly replicas: string;
  readonly remove?: string;
  readonly dryRun?: boolean;
  readonly timeout: string;
}

const OF_REPLICA_SETS = /^(rs|replicasets?((\.v1)?\.apps)?)$/i;
const MOST_REPLICAS = 2 ** 31 - 1;

/** `rollkeeper scale`: a size, and the pods that go with it. */
export function registerScaleCommand(program: Command): void {
  addNamespaceOption(addApiOptions(program.command('scale')))
    .description(
      'scale a Deployment or a ReplicaSet, and choose the pods to remove: exactly those, or nothing is changed (docs/ROLLOUTS.md)',
    )
    .argument('<name...>', 'deployment/NAME, replicaset/NAME, or NAMESPACE/NAME and NAME of a Deployment')
    .requiredOption('--replicas <number>', 'the new size')
    .option('--remove <pods>', 'pods to remove first, comma-separated: pod/NAME')
    .option('--dry-run', 'only print what would be done')
    .option('--timeout <duration>', 'timeout of the deletion of the named pods: 90s, 5m, or seconds', '1m')
    .option('--api <api>', 'apps/v1 or rollkeeper.dev/v1 (default: the API that has it)')
    .action((words: string[], flags: ScaleFlags) =>
      runUntilStopped(async (signal) => {
        const end = await scale(words, flags, signal);
        process.exitCode = SCALE_EXIT_CODES[end.outcome];
        if (process.exitCode === 0) print(end.message);
        else printError(end.message);
      }),
    );
}

async function scale(words: readonly string[], flags: ScaleFlags, signal: AbortSignal): Promise<ScaleEnd> {
  const request = await compileScaleRequest(flags);
  const replicaSet = replicaSetIn(words, flags);
  const target = replicaSet === undefined ? parseTarget(words, flags) : undefined;
  // Imported lazily to keep other commands small.
  const { findDeployment } = await import('./live-deployment.js');
  const { withApi } = await import('./with-api.js');
  const { scaleDeployment, scaleReplicaSet } = await import('../insight/rollout/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  return withApi(flags, async (client) => {
    const context = { client, signal, clock: new SystemClock() };
    if (replicaSet) return scaleReplicaSet(replicaSet, request, context);
    if (!target) throw new InvalidOptionError('name', 'is missing');
    const { type } = await findDeployment(client, target.ref, target.api, signal);
    return scaleDeployment(type, target.ref, request, context);
  });
}

/** @throws InvalidOptionError */
async function compileScaleRequest({
  dryRun = false,
  remove = '',
  replicas,
  timeout,
}: Pick<ScaleFlags, 'dryRun' | 'remove' | 'replicas' | 'timeout'>): Promise<ScaleRequest> {
  if (!/^\d{1,10}$/.test(replicas) || Number(replicas) > MOST_REPLICAS)
    throw new InvalidOptionError('replicas', `"${replicas}" is not a number of pods`);
  const names = remove === '' ? [] : remove.split(',').map(podNamed);
  const timeoutMs = await readDuration('timeout', timeout);
  return { replicas: Number(replicas), remove: names, isDryRun: dryRun, timeoutMs };
}

function podNamed(word: string): string {
  const name = word.trim().replace(/^(po|pods?)\//i, '');
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name))
    throw new InvalidOptionError('remove', `"${word.trim()}" is not pod/NAME`);
  return name;
}

/** `replicaset/NAME` or `rs NAME`; undefined: a Deployment is meant. */
function replicaSetIn(words: readonly string[], { namespace }: TargetFlags) {
  const [kind = '', ...rest] = words.length === 1 ? (words[0] ?? '').split('/') : words;
  if (!OF_REPLICA_SETS.test(kind)) return undefined;
  const [name = '', ...more] = rest;
  if (more.length > 0) throw new InvalidOptionError('name', `one ReplicaSet at a time: "${words.join(' ')}"`);
  return parseRef(namespace === undefined ? name : `${namespace}/${name}`);
}
