import { readNamedFile } from '@rollkeeper/machinery/files';
import type { Command } from 'commander';
import { Option } from 'commander';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { file, text } from '@rollkeeper/machinery/options/option-table';
import { withRedisCaFile } from '@rollkeeper/redis/connection';
import { REDIS_URL_OPTION, redisUrlHelp } from '../terminal/redis-url-option.js';
import { addOptions } from './table-options.js';

/** Options and arguments shared by several commands. */

export interface RedisFlags {
  redisUrl?: string;
  redisCaFile?: string;
}

/** Accepted wherever `--redis-url` is; both also from the environment, where other users cannot read a password. */
export const REDIS_CA_FILE_OPTION = {
  'redis-ca-file': file({
    help: 'certificate authority of a rediss:// server',
    env: 'REDIS_CA_FILE',
  }),
};

/** `--redis-url` and `--redis-ca-file`. @param use what the command does with that Redis */
export function addRedisOptions(command: Command, use: string): Command {
  const redisUrl = text({ ...REDIS_URL_OPTION, help: redisUrlHelp(use) });
  return addOptions(command, { 'redis-url': redisUrl, ...REDIS_CA_FILE_OPTION });
}

/** The complete Redis URL, if one was given. @throws InvalidOptionError */
export function redisUrlOf(flags: RedisFlags, env: NodeJS.ProcessEnv): string | undefined {
  const url = flags.redisUrl ?? env[REDIS_URL_OPTION.env];
  return url === undefined ? undefined : withRedisCaFile(url, flags.redisCaFile ?? env['REDIS_CA_FILE']);
}

export interface ApiFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** The folder in which `up` keeps what it has, unless an option names another one. */
export const UP_FOLDER = '.rollkeeper';

/** `--data-dir`, of commands that look at what `up` runs. */
export function dataDirOption(): Option {
  return new Option('--data-dir <folder>', 'the data folder of `up`').default(UP_FOLDER);
}

/** See `withApi`. */
const API_DEFAULT = "kubeconfig of the cluster (default: kubectl's rules, then `up` in this folder)";

/** `--kubeconfig` and `--context`. */
export function addApiOptions(command: Command, what = API_DEFAULT): Command {
  return command
    .option('--kubeconfig <file>', what)
    .option('--context <name>', 'context of the kubeconfig (default: the current one)');
}

/** `ns/name` or `name`. @throws InvalidOptionError naming the option */
export function parseRef(text: string, option = 'name'): Required<ObjectRef> {
  const [first = '', second, ...more] = text.split('/');
  const valid = [first, second ?? 'x'].every((part) => /^[a-z0-9]([\w.-]*[a-z0-9])?$/i.test(part));
  if (!valid || more.length > 0) throw new InvalidOptionError(option, `"${text}" is not namespace/name`);
  return second === undefined ? { namespace: 'default', name: first } : { namespace: first, name: second };
}

/** The content of the file that an option names. @throws InvalidOptionError */
export async function readNamed(option: string, file: string): Promise<string> {
  try {
    return await readNamedFile(file);
  } catch (error) {
    throw new InvalidOptionError(option, errorMessage(error), { cause: error });
  }
}

/** @throws InvalidOptionError */
export function readSeconds(option: string, text: string): number {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds <= 0)
    throw new InvalidOptionError(option, `"${text}" is not a number of seconds`);
  return seconds;
}
