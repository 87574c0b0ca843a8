export { LOG_LEVELS, getLogLevel, setLogLevel } from './log-level.js';
export type { LogLevel } from './log-level.js';
export { silentLogger } from './logger.js';
export type { LogFields, Logger } from './logger.js';
export { createPinoLogger } from './pino-logger.js';
export type { LogFormat, PinoLoggerOptions } from './pino-logger.js';
export { redactFields, redactText } from './redact.js';
