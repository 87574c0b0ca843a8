export { abortable } from './abortable.js';
export { LuaScript } from './lua-script.js';
export { assertRedisUrl, createRedisConnection } from './redis-connection.js';
export type { RedisConnectionOptions } from './redis-connection.js';
