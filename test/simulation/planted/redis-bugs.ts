import type { WorldBug } from './planted-bug.js';

/** Found by the world on a simulated Redis, which has the script with the bug under the hash of the right one. */
export const REDIS_BUGS: readonly WorldBug[] = [
  {
    name: 'lua-lease-given-to-all',
    breaks: 'The script of the lease gives it to every replica that asks',
    under: [],
    withinSeeds: 2,
    file: 'src/redis/leader-election/lua/acquire-1.lua',
    from: 'if isHeld and holder ~= identity and not isDeposed then',
    to: 'if isHeld and holder ~= identity and not isDeposed and identity == "" then',
  },
  {
    name: 'lua-own-writes-dropped',
    breaks: 'The script that releases the lock of an actor does not store what its run wrote',
    under: ['watches are held'],
    withinSeeds: 4,
    file: 'src/redis/activation/lua/release-1.lua',
    from: "raiseVersions(actorKey, 'own', addUnanswered(actorKey, removeSettled(actorKey, 8)))",
    to: 'addUnanswered(actorKey, removeSettled(actorKey, 8))',
  },
  {
    name: 'lua-interrupted-run-forgotten',
    breaks:
      'The script that takes the lock of an actor forgets the intents of an interrupted run, and that it was interrupted',
    under: ['a replica dies at a creation that others see late'],
    withinSeeds: 4,
    file: 'src/redis/activation/lua/acquire-1.lua',
    from: "if stored[3] and not isOurs then redis.call('HSET', actorKey, 'interrupted', '1') end",
    to: "redis.call('HDEL', actorKey, 'intents')",
  },
  {
    name: 'lua-slots-of-any-term',
    breaks: 'The script that assigns slots lets a former leader assign them',
    under: ['a replica is paused', 'the store is paused'],
    slots: true,
    withinSeeds: 8,
    file: 'src/redis/slots/lua/assign-slots-1.lua',
    from: 'if current[1] ~= epoch or current[2] ~= holder then',
    to: 'if not current[1] then',
  },
];
