import { InvalidOptionError } from '../errors/index.js';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
/** How much is logged: a level and those after it. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One level for all loggers of the process, so that it can be changed at run time. */
let current: LogLevel = 'info';

/** The lowest level written now. */
export function getLogLevel(): LogLevel {
  return current;
}

/**
 * Changes the level of every logger of this process, including existing ones.
 * @throws InvalidOptionError for an unknown level
 */
export function setLogLevel(level: string): void {
  current = parseLogLevel(level);
}

export function isLogged(level: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(current);
}

/** @throws InvalidOptionError */
export function parseLogLevel(level: string): LogLevel {
  const known = LOG_LEVELS.find((each) => each === level);
  if (!known) throw new InvalidOptionError('log-level', `"${level}" is not one of ${LOG_LEVELS.join(', ')}`);
  return known;
}
