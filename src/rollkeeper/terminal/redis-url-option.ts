/** The common part of every `--redis-url` option. */
export const REDIS_URL_OPTION = { value: 'url', env: 'REDIS_URL' } as const;

/** @param use what the command does with that Redis */
export function redisUrlHelp(use: string): string {
  return `${use}; redis://, rediss://, redis+sentinel://, redis+cluster://`;
}
