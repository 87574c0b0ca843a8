import { parseJson } from '@rollkeeper/machinery/kubernetes';
import { onAbort } from '@rollkeeper/machinery/cancellation';
import type { ExecOptions, ExecResult } from './api-client.js';
import { ApiStatusError } from './api-status-error.js';
import { MAX_ANSWER_BYTES } from './connections.js';
import { toApiStatus } from './parse-response.js';
import type { PodChannels } from './pod-channels.js';
import { ApiConnectionError, ApiProtocolError } from './transport-errors.js';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
/** Carries the number of a channel that has ended. */
const CLOSE = 255;

/** Input needs the fifth version: the ones before cannot say that it has ended. */
export function execProtocols({ stdin }: Pick<ExecOptions, 'stdin'>): readonly string[] {
  return stdin === undefined ? ['v5.channel.k8s.io', 'v4.channel.k8s.io'] : ['v5.channel.k8s.io'];
}

/**
 * Follows a command to its end.
 * @param name `exec in pods/web`, for errors
 * @throws ApiStatusError if it could not be run; ApiConnectionError if the connection ends before it; the signal's reason
 */
export async function followExec(
  channels: PodChannels,
  name: string,
  { onStderr, onStdout, signal, stdin }: ExecOptions,
): Promise<ExecResult> {
  const output = { [STDOUT]: new Collected(onStdout), [STDERR]: new Collected(onStderr) };
  const ended = new Promise<string>((resolve, reject) => {
    channels.listen({
      onMessage(channel, data) {
        if (channel === ERROR && data.length > 0) resolve(data.toString());
        else if ((channel === STDOUT || channel === STDERR) && !output[channel].add(data))
          reject(tooLarge(name));
      },
      onClose: () => reject(new ApiConnectionError(`${name}: the connection ended before the command did`)),
    });
  });
  const stopListening = signal && onAbort(signal, () => channels.close());
  try {
    // A command may end without reading its input: the end counts, and an input that fails is the caller's failure.
    const [status] = await Promise.race([
      Promise.all([ended, sendInput(channels, stdin)]),
      ended.then((end) => [end] as const),
    ]);
    return {
      exitCode: exitCodeOf(parseJson(status)),
      stdout: output[STDOUT].text,
      stderr: output[STDERR].text,
    };
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    stopListening?.();
    channels.close();
  }
}

async function sendInput(channels: PodChannels, stdin: ExecOptions['stdin']): Promise<void> {
  if (stdin === undefined) return;
  const chunks = typeof stdin === 'string' || stdin instanceof Uint8Array ? [stdin] : stdin;
  for await (const chunk of chunks)
    channels.send(STDIN, typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  channels.send(CLOSE, Uint8Array.of(STDIN));
}

interface EndStatus {
  readonly status?: string;
  readonly reason?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

/** @throws ApiStatusError for an end that is no exit code: there is no such command, say */
export function exitCodeOf(end: unknown): number {
  const { details, reason, status }: EndStatus = end ?? {};
  if (status === 'Success') return 0;
  const exitCode = details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message;
  if (reason === 'NonZeroExitCode' && exitCode !== undefined && /^\d+$/.test(exitCode))
    return Number(exitCode);
  throw new ApiStatusError(toApiStatus({ ...(end ?? {}), kind: 'Status' }));
}

function tooLarge(name: string): ApiProtocolError {
  const message = `${name}: the output is larger than ${MAX_ANSWER_BYTES} bytes; take it by onStdout and onStderr`;
  return new ApiProtocolError(message, { tooLarge: true });
}

/** The output of a command, unless the caller takes it piece by piece. */
class Collected {
  private readonly chunks: Buffer[] = [];
  private length = 0;

  constructor(private readonly take: ((chunk: Uint8Array) => void) | undefined) {}

  /** Whether there is room for it. */
  add(chunk: Buffer): boolean {
    if (chunk.length === 0) return true;
    if (this.take) {
      this.take(chunk);
      return true;
    }
    this.length += chunk.length;
    this.chunks.push(chunk);
    return this.length <= MAX_ANSWER_BYTES;
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }
}
