import { SystemClock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { ServerTrust } from '@rollkeeper/tls';

/** A replica, and what its certificate is compared with. */
export interface AskedReplica {
  readonly url: string;
  readonly trust: ServerTrust;
}

/** The replicas that answer at all. */
export interface AliveReplicas {
  /** The replicas that have answered by then: the first one, or whichever was sooner, and others in the order in which they were named. */
  readonly alive: readonly AskedReplica[];
  /** If none answers, of each: its URL, and why. */
  readonly problems: readonly string[];
}

/** A replica answers `/livez` without its store or the API, so a longer silence means that its process hangs, milliseconds. */
const ALIVE_WITHIN_MS = 1000;
/** The first one is preferred if it answers within this time. */
const SOON_MS = 300;

/**
 * Finds the replicas that answer, within a second, by asking all of them at once: one that hangs must not cost its whole timeout
 * with each question. Asks whether they live, and sends no token.
 * @param reasonOf an error for people
 * @param withinMs milliseconds
 */
export async function aliveReplicas(
  replicas: readonly AskedReplica[],
  reasonOf: (error: unknown) => string = errorMessage,
  withinMs = ALIVE_WITHIN_MS,
): Promise<AliveReplicas> {
  const answered = new Set<AskedReplica>();
  const asked = replicas.map(async (replica) => {
    const problem = await problemOf(replica, reasonOf, withinMs);
    if (problem === undefined) answered.add(replica);
    return problem;
  });
  await soon(asked[0]);
  const sooner = Promise.any(
    asked.map(async (each) => {
      if ((await each) !== undefined) throw new Error('it does not answer');
    }),
  );
  await sooner.catch(() => undefined);
  if (answered.size > 0) return { alive: replicas.filter((each) => answered.has(each)), problems: [] };
  const problems = await Promise.all(asked);
  return { alive: [], problems: replicas.map(({ url }, index) => `${url}: ${problems[index] ?? ''}`) };
}

async function soon(asked: Promise<unknown> | undefined): Promise<void> {
  const stop = new AbortController();
  const late = new SystemClock().sleep(SOON_MS, stop.signal).catch(() => undefined);
  try {
    await Promise.race([asked, late]);
  } finally {
    stop.abort();
  }
}

/** Why a replica does not answer; any status is an answer. */
async function problemOf(
  { trust, url }: AskedReplica,
  reasonOf: (error: unknown) => string,
  withinMs: number,
): Promise<string | undefined> {
  const { trustedAgent } = await import('@rollkeeper/tls');
  const { request } = await import('undici');
  const dispatcher = trustedAgent(trust);
  try {
    const signal = AbortSignal.timeout(Math.round(withinMs));
    const { body } = await request(`${url}/livez`, { dispatcher, signal });
    await body.dump();
    return undefined;
  } catch (error) {
    return error instanceof DOMException ? `nothing came for ${withinMs / 1000} s` : reasonOf(error);
  } finally {
    await dispatcher.destroy();
  }
}
