import { errorMessage } from '@rollkeeper/machinery/errors';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Measured } from './common/check-verdict.js';
import type { WebhookCheck } from './check-definition.js';
import type { CheckRun } from './check-results.js';
import type { HttpSender } from './common/http-sender.js';
import { NoAnswerError } from './common/http-sender.js';
import type { RequestSigner } from './signature.js';
import type { CheckSubject } from './common/subject.js';

/** Statuses by which a server says that a later try may have another answer. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

export interface WebhookParts {
  readonly sender: HttpSender;
  readonly signer: RequestSigner;
  readonly signal: AbortSignal;
}

/** One try. Asked again by the run of the check, which keeps what has been tried. */
export async function measureWebhook(
  check: WebhookCheck,
  asked: { readonly subject: CheckSubject; readonly run: CheckRun; readonly replicaSetUid: string },
  { sender, signal, signer }: WebhookParts,
): Promise<Measured> {
  const { stable: _stable, ...subject } = asked.subject;
  const body = stringifyJson({ ...subject, attempt: asked.run.attempt });
  try {
    const headers = { 'content-type': 'application/json', ...(await signed(signer, idOf(asked), body)) };
    const { status } = await sender.send(
      { method: 'POST', url: check.url, headers, body, timeoutMs: check.timeoutMs },
      signal,
    );
    if (check.expect.some(({ from, to }) => status >= from && status <= to)) return { verdict: 'passed' };
    const message = `the webhook answered ${status}`;
    if (status >= 500 || TEMPORARY.has(status)) return { verdict: 'unknown', message };
    return { verdict: 'failed', message, isFinal: asked.run.step !== undefined };
  } catch (error) {
    if (error instanceof NoAnswerError)
      return { verdict: 'unknown', message: `the webhook: ${error.message}` };
    throw error;
  }
}

/** Nothing is sent without its signature: a receiver could not distinguish it from a forged request. */
async function signed(
  signer: RequestSigner,
  id: string,
  body: string,
): Promise<Readonly<Record<string, string>>> {
  try {
    return await signer.headersOf(id, body);
  } catch (error) {
    throw new NoAnswerError(`cannot be signed: ${errorMessage(error)}`, { cause: error });
  }
}

/**
 * The same for all tries of one measurement, also of another replica after a crash: a receiver that has answered it once may give
 * the same answer again.
 */
function idOf({ replicaSetUid, run, subject }: Parameters<typeof measureWebhook>[1]): string {
  const known = run.taken - run.unknown;
  const where = subject.step === undefined ? 'throughout' : `step-${subject.step}`;
  return [replicaSetUid, subject.revision, where, subject.check, run.attempt, known].join('.');
}
