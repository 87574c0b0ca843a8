import { trace } from '@opentelemetry/api';
import type { Logger as PinoLogger } from 'pino';
import { pino } from 'pino';
import { InvalidOptionError } from '../errors/index.js';
import type { LogFields, Logger } from './logger.js';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = 'json' | 'pretty';

export interface PinoLoggerOptions {
  /** @default 'info' */
  level?: LogLevel;
  /** One JSON object a line, or coloured text for people. @default 'json' */
  format?: LogFormat;
  /** Fields of every line, for example the process's role. */
  base?: LogFields;
}

/** The process's logger on stderr. Lines written inside a span carry its `trace_id` and `span_id`. */
export function createPinoLogger(options: PinoLoggerOptions = {}): Logger {
  const level = options.level ?? 'info';
  if (!LOG_LEVELS.includes(level)) {
    throw new InvalidOptionError('log-level', `"${level}" is none of ${LOG_LEVELS.join(', ')}`);
  }
  const destination =
    options.format === 'pretty'
      ? pino.transport({ target: 'pino-pretty', options: { destination: 2, ignore: 'pid,hostname' } })
      : pino.destination({ dest: 2, sync: true });
  return new PinoAdapter(
    pino(
      {
        level,
        base: options.base ?? {},
        messageKey: 'message',
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: loggedError },
        mixin: traceFields,
      },
      destination,
    ),
  );
}

/** Nothing else of an error is logged: clients hang requests on theirs, and with them passwords and tokens. */
function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { cause, message, name, stack } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    stack,
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined ? {} : { cause: loggedError(cause) }),
  };
}

function traceFields(): Record<string, string> {
  const span = trace.getActiveSpan()?.spanContext();
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}

class PinoAdapter implements Logger {
  constructor(private readonly target: PinoLogger) {}

  debug(message: string, fields: LogFields = {}): void {
    this.target.debug(fields, message);
  }

  info(message: string, fields: LogFields = {}): void {
    this.target.info(fields, message);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.target.warn(fields, message);
  }

  error(message: string, fields: LogFields = {}): void {
    this.target.error(fields, message);
  }

  child(fields: LogFields): Logger {
    return new PinoAdapter(this.target.child(fields));
  }
}
