import type { Logger } from '../../../src/machinery/logging/index.js';
import { silentLogger } from '../../../src/machinery/logging/index.js';
import type { Way } from '../plan.js';
import { planOf, wayOf } from '../plan.js';
import { simulate } from '../simulate.js';
import { SWEPT } from '../slots/sweep-watch.js';
import type { WorldBug } from './planted-bug.js';

/** How long there are faults and users, simulated milliseconds. */
const TROUBLED_MS = 20_000;

/**
 * The first problem that a run of the seed shows under these kinds of faults; undefined if it shows none.
 * @param scriptText replaces the text of a Lua script, in a run on a simulated Redis. @default the run needs no Redis
 */
export async function problemOf(
  seed: number,
  { slots = false, under, world }: Pick<WorldBug, 'slots' | 'under' | 'world'>,
  scriptText?: (text: string) => string,
): Promise<string | undefined> {
  let swept: string | undefined;
  const logger: Logger = {
    ...silentLogger,
    error: (message, fields) => {
      if (message === SWEPT) swept ??= `${message}: ${String(fields?.['key'])}`;
    },
    child: () => logger,
  };
  const { violations } = await simulate({
    seed,
    plan: planOf(seed, TROUBLED_MS, {
      ...{ only: under, slots, way: scriptText ? 'redis' : withoutRedis(wayOf(seed)) },
      ...(world && { world }),
    }),
    ...(scriptText && { scriptText }),
    logger: () => logger,
  });
  const [first] = violations;
  return first ? `${first.check}: ${first.subject}: ${first.problem}` : swept;
}

/** The bugs of TypeScript are in the implementations in memory. */
function withoutRedis(way: Way): Way {
  return way === 'redis' ? 'store' : way;
}
