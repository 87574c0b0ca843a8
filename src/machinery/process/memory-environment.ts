import { setFlagsFromString } from 'node:v8';

/** The operator's setting of the young generation's size takes precedence over ours. */
const YOUNG_GENERATION = '--max-semi-space-size';

/**
 * The resource that a process should save: memory, as in a container with a limit, or time, as when people wait for it.
 */
export type Favour = 'memory' | 'time';

/** MiB; V8's own limit is 16. */
const SEMI_SPACE_MIB: Readonly<Record<Favour, number>> = { memory: 8, time: 16 };

/**
 * The environment for a process that should use little memory, where `env` has no setting of its own; the image's
 * Dockerfile has the same. One arena for malloc, where glibc gives each thread of V8 its own, and semi-spaces of 8 MiB:
 * a quarter to a third less at the peak of rollouts. The smaller semi-spaces cost a seventh more CPU when everything
 * was just started on two busy cores, so favouring time keeps them at 16 MiB (docs/PERFORMANCE.md). The thresholds are
 * glibc's initial ones; setting them keeps glibc from raising them, so larger blocks return to the system when freed.
 * All of these only take effect at process start.
 */
export function withMemoryDefaults(env: NodeJS.ProcessEnv, favours: Favour = 'memory'): NodeJS.ProcessEnv {
  const { NODE_OPTIONS = '' } = env;
  const isSized = NODE_OPTIONS.includes(YOUNG_GENERATION);
  return {
    MALLOC_ARENA_MAX: '1',
    MALLOC_MMAP_THRESHOLD_: '131072',
    MALLOC_TRIM_THRESHOLD_: '131072',
    ...env,
    NODE_OPTIONS: isSized
      ? NODE_OPTIONS
      : `${YOUNG_GENERATION}=${SEMI_SPACE_MIB[favours]} ${NODE_OPTIONS}`.trim(),
  };
}

const HEAP_GROWTH = '--heap-growing-percent';

/**
 * Limits the heap's growth between collections to this percentage of what the last one left, unless the command line
 * has a setting. V8's own limit is up to four times that, and it returns memory only when idle. `NODE_OPTIONS` does not
 * allow this flag; V8 reads it at each collection.
 */
export function limitHeapGrowth(percent: number): void {
  if (!process.execArgv.some((arg) => arg.startsWith(HEAP_GROWTH)))
    setFlagsFromString(`${HEAP_GROWTH}=${percent}`);
}
