import { SystemClock } from '../../../src/machinery/clock/index.js';
import { RedisHolderWitness, RedisLeaseLinks } from '../../../src/redis/index.js';
import type { HolderWitnessesUnderTest } from '../../../src/testing/holder-witness-contract.js';

/** Processes that can be seen in a Redis, each by connections of its own. */
export function redisWitnesses(url: string, keyPrefix: string): HolderWitnessesUnderTest {
  const clock = new SystemClock();
  const linksOf = new Map<string, RedisLeaseLinks>();
  return {
    witness(identity) {
      const links = new RedisLeaseLinks({ url, keyPrefix });
      linksOf.set(identity, links);
      return new RedisHolderWitness({ links, identity, clock });
    },
    kill: (identity) => linksOf.get(identity)?.close(),
    breakLinks: (identity) => linksOf.get(identity)?.listener.disconnect(true),
    async stop() {
      for (const links of linksOf.values()) links.close();
    },
  };
}
