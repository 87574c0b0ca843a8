import type { ZodType } from 'zod';
import { InvalidOptionError } from '../errors/index.js';

/**
 * Validates options once and fills in defaults.
 * @param prefix prepended to the option's name in errors, for example `leaderElection`
 * @throws InvalidOptionError naming the first invalid option
 */
export function compileOptions<Compiled>(
  schema: ZodType<Compiled>,
  options: unknown,
  prefix = '',
): Readonly<Compiled> {
  const parsed = schema.safeParse(options);
  if (parsed.success) return Object.freeze(parsed.data);
  const issue = parsed.error.issues[0];
  const path = [prefix, ...(issue?.path ?? []).map(String)].filter((part) => part !== '').join('.');
  throw new InvalidOptionError(path, issue?.message ?? 'is not valid', { cause: parsed.error });
}
