/** What an operator says of the young generation's size goes before what we say. */
const YOUNG_GENERATION = '--max-semi-space-size';

/**
 * The environment for a process of ours that shall have little memory, where `env` does not say otherwise; the image's Dockerfile
 * has the same. Semi-spaces of 8 MiB, where V8 lets them grow to 16, and one arena for malloc, where glibc gives each thread of V8 its
 * own: a quarter to a third less at the peak of rollouts, for no more CPU (docs/PERFORMANCE.md). Both count from the start of a
 * process only.
 */
export function withMemoryDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { MALLOC_ARENA_MAX = '1', NODE_OPTIONS = '' } = env;
  const isSized = NODE_OPTIONS.includes(YOUNG_GENERATION);
  return {
    ...env,
    MALLOC_ARENA_MAX,
    NODE_OPTIONS: isSized ? NODE_OPTIONS : `${YOUNG_GENERATION}=8 ${NODE_OPTIONS}`.trim(),
  };
}
