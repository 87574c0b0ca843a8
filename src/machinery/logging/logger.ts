/** Fields of one log line. Values must be JSON; never put a secret here. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Structured logging. `info` is for decisions and transitions, `debug` for single syncs and requests, `warn` for what
 * is retried, `error` for what needs a person's attention.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

/** Logs nothing; the default of optional loggers. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
