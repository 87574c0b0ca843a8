/** Fields of one log line. Values must be JSON; never put a secret here. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Structured logging as the capabilities see it. `info` is for decisions and transitions, `debug` for single
 * syncs and requests, `warn` for what is retried, `error` for what a person must look at.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger whose every line carries `fields` as well. */
  child(fields: LogFields): Logger;
}

/** Says nothing; the default of optional loggers. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
