import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { EXEC_ANNOTATION, answerTo, readExecAnswers } from '@rollkeeper/machinery/exec-answers';
import type { ExecAnswer, ExecAnswers } from '@rollkeeper/machinery/exec-answers';
import { containerAnnotation, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { badRequest, internalError } from '../../schema/errors/index.js';
import type { ConnectOptions } from './connect-options.js';
import type { ApiRequest, MessageConnection, UpgradeResponse } from '../../http/index.js';

export type ExecOutcome =
  | { readonly type: 'answer'; readonly answer: ExecAnswer }
  /** The container has no such command. */
  | { readonly type: 'unknown command'; readonly command: string };

/**
 * The answer of a command in a container.
 * @returns undefined where the pod says nothing of commands
 * @throws StatusError 400 for an annotation that cannot be read, 500 where the container does not run
 */
export function decideExec(
  { metadata, status }: DeepReadonly<Pod>,
  container: string,
  command: readonly string[],
): ExecOutcome | undefined {
  const text = containerAnnotation(metadata, EXEC_ANNOTATION, container);
  if (text === undefined) return undefined;
  if (command.length === 0) throw badRequest('you must specify a command');
  const statuses = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ];
  if (!statuses.some(({ name, state }) => name === container && state?.running))
    throw internalError(`unable to upgrade connection: container not found (${stringifyJson(container)})`);
  const answer = answerTo(readAnswers(text), command);
  return answer ? { type: 'answer', answer } : { type: 'unknown command', command: command[0]! };
}

function readAnswers(text: string): ExecAnswers {
  try {
    return readExecAnswers(text);
  } catch (error) {
    throw badRequest(errorMessage(error), error);
  }
}

/** The client's end of the channels that one connection carries: the first byte of a message says which one it is of. */
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
/** A process does not start at once, and kubectl 1.32 drops what comes before it has made its streams. */
const PROCESS_STARTS_AFTER_MS = 50;
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/**
 * Answers over a WebSocket, in the protocol of remote commands: what is typed goes nowhere.
 * Sources: remotecommand in apimachinery/pkg/util, websocket.go in kubelet/pkg/cri/streaming/remotecommand.
 * @throws StatusError 400 for another protocol
 */
export function execOverWebSocket(
  { headers }: Pick<ApiRequest, 'headers'>,
  options: Pick<ConnectOptions, 'stderr' | 'stdout' | 'tty'>,
  outcome: ExecOutcome,
  clock: Pick<Clock, 'setTimeout'>,
): UpgradeResponse {
  if (headers.upgrade?.toLowerCase() !== 'websocket')
    throw badRequest('commands of simulated pods are answered over WebSockets alone');
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const protocol = PROTOCOLS.find((name) => offered.includes(name));
  if (protocol === undefined)
    throw badRequest(
      `unable to negotiate protocol: client supports [${offered.join(' ')}], server supports [${PROTOCOLS.join(' ')}]`,
    );
  const { tty: isTerminal } = options;
  return {
    status: 101,
    protocol,
    serve(connection) {
      clock.setTimeout(() => {
        // Reports to the client that there is no error so far.
        write(connection, options.stdout ? STDOUT : ERROR, '');
        if (outcome.type === 'answer') {
          const { stderr, stdout } = outcome.answer;
          if (options.stdout) write(connection, STDOUT, stdout);
          // A terminal has one stream for both.
          if (isTerminal || options.stderr) write(connection, isTerminal ? STDOUT : STDERR, stderr);
        }
        write(connection, ERROR, stringifyJson(statusOf(outcome)));
        connection.close();
      }, PROCESS_STARTS_AFTER_MS);
    },
  };
}

function write(connection: MessageConnection, channel: number, text: string): void {
  connection.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]));
}

function statusOf(outcome: ExecOutcome): object {
  if (outcome.type === 'unknown command') {
    const problem = `exec: ${stringifyJson(outcome.command)}: executable file not found in $PATH: unknown`;
    const message = `Internal error occurred: error executing command in container: ${problem}`;
    return { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 };
  }
  const { exitCode } = outcome.answer;
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}
