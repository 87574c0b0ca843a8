import { toError } from '@rollkeeper/machinery/errors';
import type { StreamingAnswer } from './http-transport.js';
import { statusErrorOf } from './parse-response.js';

/** Abort reason when the reader stops; never surfaced. */
const READER_LEFT = new Error('the reader of the log left');

/**
 * The lines of a log, without their ends; the last one may have none. Leaving early closes the connection.
 * @throws ApiStatusError if the server refuses
 */
export async function* logLines(open: () => Promise<StreamingAnswer>): AsyncGenerator<string, void> {
  const answer = await open();
  const { body, explain, head, scope, status } = answer;
  const decoder = new TextDecoder();
  let rest = '';
  const text =
    status === 200
      ? undefined
      : await body.text().catch((error: unknown) => Promise.reject(toError(explain(error))));
  if (text !== undefined) throw statusErrorOf({ ...head, text });
  try {
    for await (const chunk of body) {
      scope.touch();
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    rest += decoder.decode();
    if (rest !== '') yield rest;
  } catch (error) {
    throw explain(error);
  } finally {
    scope.abort(READER_LEFT);
  }
}
