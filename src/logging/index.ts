export { silentLogger } from './logger.js';
export type { LogFields, Logger } from './logger.js';
export { LOG_LEVELS, createPinoLogger } from './pino-logger.js';
export type { LogFormat, LogLevel, PinoLoggerOptions } from './pino-logger.js';
