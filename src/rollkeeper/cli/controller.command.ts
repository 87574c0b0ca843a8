import { hostname } from 'node:os';
import type { Command } from 'commander';
import { heapIsLoaded, runUntilStopped, tellParent } from '@rollkeeper/machinery/process';
import type { OnServing } from '../admin/pages/index.js';
import type { ReplicaOptions } from '../replica/replica-options.table.js';
import { REPLICA_OPTIONS_TABLE } from '../replica/replica-options.table.js';
import { REDIS_CA_FILE_OPTION, redisUrlOf } from './shared-options.js';
import { addOptions, byTableName } from './table-options.js';

/**
 * In a replica, caches are most of the live memory, and little of what is allocated stays: 251 MiB with 20 000 pods
 * instead of 286 to 440, for a CPU cost too small to measure (docs/PERFORMANCE.md).
 */
const HEAP_GROWS_BY_PERCENT = 50;

/** `rollkeeper controller`: one replica against any Kubernetes API. */
export function registerControllerCommand(program: Command): void {
  const { 'redis-url': redisUrl, ...others } = REPLICA_OPTIONS_TABLE;
  const command = program
    .command('controller')
    .description('run one replica of the controllers against a Kubernetes API');
  addOptions(command, { 'redis-url': redisUrl, ...REDIS_CA_FILE_OPTION, ...others }).action(
    (flags: Record<string, string>) => runUntilStopped((signal, endWithin) => run(flags, signal, endWithin)),
  );
}

async function run(
  flags: Record<string, string>,
  signal: AbortSignal,
  endWithin: (graceMs: number) => void,
): Promise<void> {
  // Imported lazily to keep other commands small.
  const { compileReplicaOptions, runReplica, stopsWithinMs } = await import('../replica/index.js');
  const options = compileReplicaOptions(replicaOptionsOf(flags, process.env));
  const stops = { stopsWithinMs: stopsWithinMs(options) };
  endWithin(stops.stopsWithinMs);
  const onServing: OnServing = (replica) => {
    heapIsLoaded(HEAP_GROWS_BY_PERCENT);
    tellParent({ type: 'ready', ...replica, ...stops });
  };
  return runReplica(options, onServing, signal);
}

/** The options of a replica from its flags and environment. */
export function replicaOptionsOf(
  { redisCaFile, redisUrl, ...flags }: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): ReplicaOptions {
  return {
    identity: `${hostname()}-${process.pid}`,
    ...byTableName(flags),
    'redis-url': redisUrlOf({ redisUrl, redisCaFile }, env),
  };
}
