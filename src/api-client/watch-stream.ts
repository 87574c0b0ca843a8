import type { KubernetesObject } from '../kubernetes/index.js';
import type { WatchEvent } from './api-client.js';
import { WatchErrorEvent } from './api-status-error.js';
import type { StreamingAnswer } from './http-transport.js';
import { LineSplitter } from './json-lines.js';
import { statusErrorOf, toApiStatus } from './parse-response.js';
import { ApiConnectionError, ApiProtocolError } from './transport-errors.js';

/** Why a stream is cut when its reader stops; never seen by anyone. */
const READER_LEFT = new Error('the reader of the watch left');

/**
 * The events in the answer to a watch. Ends when the server ends it between two events; leaving early closes the
 * connection.
 */
export async function* readWatch<T extends KubernetesObject>(
  answer: StreamingAnswer,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { scope, body, head } = answer;
  try {
    if (answer.status !== 200) throw statusErrorOf({ ...head, text: await textOf(answer) });
    const lines = new LineSplitter();
    for await (const chunk of readable(answer, body)) {
      scope.touch();
      for (const line of lines.push(chunk)) {
        yield parseEvent<T>(line, head.request);
        // The reader may have taken its time, and the signal may have aborted meanwhile.
        scope.signal.throwIfAborted();
      }
    }
    if (lines.hasPartialLine) throw new ApiConnectionError(`${head.request}: ended within an event`);
  } finally {
    scope.abort(READER_LEFT);
  }
}

async function* readable(
  answer: StreamingAnswer,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (error) {
    throw answer.explain(error);
  }
}

async function textOf(answer: StreamingAnswer): Promise<string> {
  try {
    return await answer.body.text();
  } catch (error) {
    throw answer.explain(error);
  }
}

function parseEvent<T extends KubernetesObject>(line: string, request: string): WatchEvent<T> {
  const { type, object } = parseLine(line, request);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: object as T };
    case 'BOOKMARK':
      return { type, resourceVersion: (object as T).metadata.resourceVersion ?? '' };
    case 'ERROR':
      throw new WatchErrorEvent(toApiStatus(object));
    default:
      throw new ApiProtocolError(`${request}: a watch event of the unknown type ${JSON.stringify(type)}`);
  }
}

function parseLine(line: string, request: string): { type?: unknown; object?: unknown } {
  try {
    return JSON.parse(line) as { type?: unknown; object?: unknown };
  } catch (error) {
    const excerpt = JSON.stringify(line.slice(0, 200));
    throw new ApiProtocolError(`${request}: a watch event that is not JSON: ${excerpt}`, { cause: error });
  }
}
