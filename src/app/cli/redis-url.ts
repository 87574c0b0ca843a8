import type { Command } from 'commander';
import { withRedisCaFile } from '../../base/redis/index.js';

export interface RedisFlags {
  redisUrl?: string;
  redisCaFile?: string;
}

/** `--redis-url` and `--redis-ca-file`; also from the environment, where other users cannot read a password. */
export function addRedisOptions(command: Command, what: string): Command {
  return command
    .option(
      '--redis-url <url>',
      `${what} (also REDIS_URL); redis://, rediss://, redis+sentinel://, redis+cluster://`,
    )
    .option(
      '--redis-ca-file <file>',
      'authority that a rediss:// server is checked against (also REDIS_CA_FILE)',
    );
}

/** The one URL that says everything about Redis, if one was given. @throws InvalidOptionError */
export function redisUrlOf(flags: RedisFlags, env: NodeJS.ProcessEnv): string | undefined {
  const url = flags.redisUrl ?? env['REDIS_URL'];
  return url === undefined ? undefined : withRedisCaFile(url, flags.redisCaFile ?? env['REDIS_CA_FILE']);
}
