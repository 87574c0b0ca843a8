import { trace } from '@opentelemetry/api';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { pino } from 'pino';
import { errorCode } from '../errors/index.js';
import type { LogLevel } from './log-level.js';
import { isLogged, parseLogLevel, setLogLevel } from './log-level.js';
import type { LogFields, Logger } from './logger.js';
import { redactFields, redactText } from './redact.js';

/** `pretty` is for terminals. */
export type LogFormat = 'json' | 'pretty';

/** The options of {@link createPinoLogger}. */
export interface PinoLoggerOptions {
  /** The level of the whole process from now on: see {@link setLogLevel}. @default 'info' */
  level?: LogLevel;
  /** One JSON object per line, or coloured text for people. @default 'json' */
  format?: LogFormat;
  /** Fields of every line, for example the process's role. */
  base?: LogFields;
}

/**
 * The process's logger on stderr. Lines written inside a span carry its `trace_id` and `span_id`; recognizable secrets
 * are redacted.
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
        // Our own level decides, because it can change.
        level: 'debug',
        base: redactFields(options.base ?? {}),
        messageKey: 'message',
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: {
          level: (label) => ({ level: label }),
          log: (fields) => redactFields(fields),
        },
        mixin: traceFields,
      },
      destination,
    ),
  );
}

/** Limit in bytes of buffered lines that could not be written; later lines are dropped. */
const MAX_UNWRITTEN = 1_000_000;

/**
 * A log that cannot be written, for example to a file on a full disk, must not end the process: lines are buffered and
 * written with the next successful write. Those beyond {@link MAX_UNWRITTEN} are lost.
 */
function stderr(): DestinationStream {
  const destination = pino.destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN });
  destination.on('error', () => undefined);
  return destination;
}

/** No other fields of an error are logged: clients attach requests to them, with passwords and tokens. */
function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { cause, message, name, stack } = error;
  const code = errorCode(error);
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
    return new PinoAdapter(this.target.child(redactFields(fields)));
  }

  private write(level: LogLevel, message: string, { error, ...fields }: LogFields): void {
    if (!isLogged(level)) return;
    this.target[level](
      error === undefined ? fields : { ...fields, error: loggedError(error) },
      redactText(message),
    );
  }
}
