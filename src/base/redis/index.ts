export { assertUsableRedis } from './check-redis.js';
export type { CheckRedisOptions } from './check-redis.js';
export { LuaScript } from './lua-script.js';
export type { LuaArgument, LuaCall } from './lua-script.js';
export { hashTagOf, runInOneStep } from './one-step.js';
export { createRedisConnection } from './redis-connection.js';
export type { RedisConnection, RedisConnectionOptions } from './redis-connection.js';
export { assertRedisUrl, describeRedis, parseRedisUrl, withRedisCaFile } from './redis-target.js';
export type { RedisAddress, RedisLogin, RedisTarget, RedisTlsFiles } from './redis-target.js';
