import { trace } from '@opentelemetry/api';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { pino } from 'pino';
import type { LogLevel } from './log-level.js';
import { isLogged, parseLogLevel, setLogLevel } from './log-level.js';
import type { LogFields, Logger } from './logger.js';
import { redactFields, redactText } from './redact.js';

export type LogFormat = 'json' | 'pretty';

export interface PinoLoggerOptions {
  /** The level of the whole process from now on: see {@link setLogLevel}. @default 'info' */
  level?: LogLevel;
  /** One JSON object a line, or coloured text for people. @default 'json' */
  format?: LogFormat;
  /** Fields of every line, for example the process's role. */
  base?: LogFields;
}

/**
 * The process's logger on stderr. Lines written inside a span carry its `trace_id` and `span_id`; what can be told to be a
 * secret is hidden.
 */
export function createPinoLogger(options: PinoLoggerOptions = {}): Logger {
  setLogLevel(parseLogLevel(options.level ?? 'info'));
  const destination =
    options.format === 'pretty'
      ? pino.transport({ target: 'pino-pretty', options: { destination: 2, ignore: 'pid,hostname' } })
      : stderr();
  return new PinoAdapter(
    pino(
      {
        // Ours is the level that counts, because it can be changed.
        level: 'debug',
        base: redactFields(options.base ?? {}) as LogFields,
        messageKey: 'message',
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: {
          level: (label) => ({ level: label }),
          log: (fields) => redactFields(fields) as Record<string, unknown>,
        },
        mixin: traceFields,
      },
      destination,
    ),
  );
}

/** So much is kept, in bytes, of lines that cannot be written; of what comes then the oldest stays. */
const MAX_UNWRITTEN = 1_000_000;

/**
 * A log that cannot be written, to a file on a full disk for example, must not end the process: the lines are kept and
 * written with one that succeeds again, and those beyond {@link MAX_UNWRITTEN} are lost.
 */
function stderr(): DestinationStream {
  const destination = pino.destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN });
  destination.on('error', () => undefined);
  return destination;
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
    this.write('debug', message, fields);
  }

  info(message: string, fields: LogFields = {}): void {
    this.write('info', message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.write('warn', message, fields);
  }

  error(message: string, fields: LogFields = {}): void {
    this.write('error', message, fields);
  }

  child(fields: LogFields): Logger {
    return new PinoAdapter(this.target.child(redactFields(fields) as LogFields));
  }

  private write(level: LogLevel, message: string, { error, ...fields }: LogFields): void {
    if (!isLogged(level)) return;
    this.target[level](
      error === undefined ? fields : { ...fields, error: loggedError(error) },
      redactText(message),
    );
  }
}
