import { setFlagsFromString } from 'node:v8';

/** What an operator says of the young generation's size goes before what we say. */
const YOUNG_GENERATION = '--max-semi-space-size';

/** What a process of ours shall have less of: memory, as in a container with a limit, or time, as where people wait for all of them. */
export type Favour = 'memory' | 'time';

/** MiB; V8 lets them grow to 16 by itself. */
const SEMI_SPACE_MIB: Readonly<Record<Favour, number>> = { memory: 8, time: 16 };

/**
 * The environment for a process of ours that shall have little memory, where `env` does not say otherwise; the image's Dockerfile
 * has the same. One arena for malloc, where glibc gives each thread of V8 its own, and semi-spaces of 8 MiB: a quarter to a third less
 * at the peak of rollouts. The smaller semi-spaces cost a seventh more CPU where everything was just started on two busy cores, so
 * whoever favours time has them of 16 (docs/PERFORMANCE.md). The thresholds are glibc's own of the start; said aloud they stay there,
 * and what is larger goes back to the system when it is freed. All count from the start of a process only.
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
 * Lets the heap of this process grow by so many percent of what a collection has left before the next one, unless its command line says
 * otherwise. V8 by itself waits for up to four times as much, and what its heap has once had it gives back only when it is idle. Cannot be
 * said in `NODE_OPTIONS`; V8 looks at it at each collection.
 */
export function limitHeapGrowth(percent: number): void {
  if (!process.execArgv.some((arg) => arg.startsWith(HEAP_GROWTH)))
    setFlagsFromString(`${HEAP_GROWTH}=${percent}`);
}
