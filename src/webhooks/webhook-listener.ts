import { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api';
import type { Span, Tracer } from '@opentelemetry/api';
import type { Clock, Logger, KubernetesObject } from '@rollkeeper/runtime';
import { StartupError } from '@rollkeeper/runtime';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { parseJson, stringifyJson, cloneJson } from '@rollkeeper/machinery/kubernetes';
import { readTraceHeaders } from '@rollkeeper/machinery/trace-context';
import type { KeyPair } from '@rollkeeper/tls';
import { SERVER_PROTOCOLS } from '@rollkeeper/tls';
import { listeningAddress } from '@rollkeeper/machinery/listening';
import { MalformedReviewError, admissionReview, readAdmissionReview, refusalOf } from './admission-review.js';
import { reviewConversion } from './convert-objects.js';
import type { WebhookDefinition, AdmissionRequest } from './define-webhook.js';
import type { WebhookVerb } from './webhook-configurations.js';
import { pathOf } from './webhook-configurations.js';
import type { WebhookMetrics } from './webhook-metrics.js';
import type { Admission, ReviewedRequest } from './admission-review.js';
import { jsonPatchBetween } from './json-patch.js';

interface WebhookListenerParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly metrics: WebhookMetrics;
}

type Answer = (review: unknown, call: CallContext) => Promise<object>;

/** Two objects of at most 3 MiB each, and a conversion of a page of a list. */
const LARGEST_BODY = 32 * 1024 * 1024;
/** A request without `?timeout=`. */
const LONGEST_MS = 30_000;

/** Answers reviews over HTTPS. */
export class WebhookListener {
  private readonly server = createServer({ ...SERVER_PROTOCOLS }, (request, response) => {
    this.noteRequest(request, response);
    this.serve(request, response).catch((error: unknown) => {
      this.parts.logger.error('a request of a webhook failed', { error: errorMessage(error) });
      response.destroy();
    });
  });
  /** Open connections by their peer, with the number of requests under way. */
  private readonly connections = new Map<string, { readonly socket: Socket; requests: number }>();
  private isClosing = false;
  private readonly answers = new Map<string, Answer>();
  private certificate: KeyPair | undefined;

  constructor(
    webhooks: readonly WebhookDefinition[],
    private readonly parts: WebhookListenerParts,
  ) {
    for (const webhook of webhooks) this.answerFor(webhook);
    this.server.on('connection', (socket: Socket) => {
      const peer = peerOf(socket);
      this.connections.set(peer, { socket, requests: 0 });
      socket.once('close', () => this.connections.delete(peer));
    });
  }

  /** Whether it has a certificate, and so can be asked. */
  get isServing(): boolean {
    return this.server.listening && this.certificate !== undefined;
  }

  /** @returns the port. @throws StartupError if the address cannot be bound */
  async listen(port: number, host: string): Promise<number> {
    const { promise, reject, resolve } = Promise.withResolvers<void>();
    this.server.once('error', reject);
    this.server.listen(port, host, resolve);
    try {
      await promise;
    } catch (error) {
      throw new StartupError(`cannot serve webhooks on ${host}:${port}: ${errorMessage(error)}`, {
        cause: error,
      });
    }
    return listeningAddress(this.server).port;
  }

  /** Shows this certificate from now on; connections that are open keep theirs. */
  show(certificate: KeyPair): void {
    const { cert, key } = certificate;
    if (cert === this.certificate?.cert && key === this.certificate.key) return;
    this.server.setSecureContext({ ...SERVER_PROTOCOLS, cert, key });
    this.certificate = certificate;
    this.parts.metrics.certificateExpires(new X509Certificate(cert).validToDate.getTime());
  }

  /** Ends once the requests under way have their answers. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.isClosing = true;
    // An API server keeps connections that it has opened and not used yet. For `closeIdleConnections` these are busy.
    for (const { requests, socket } of this.connections.values()) if (requests === 0) socket.destroy();
    const { clock } = this.parts;
    const timer = clock.setTimeout(() => this.server.closeAllConnections(), LONGEST_MS);
    await closed;
    timer.cancel();
  }

  private noteRequest({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.connections.get(peerOf(socket));
    if (!connection) return;
    connection.requests++;
    response.once('close', () => {
      connection.requests--;
      if (this.isClosing && connection.requests === 0) connection.socket.destroySoon();
    });
  }

  private answerFor(webhook: WebhookDefinition): void {
    const { convert, default: fill, name, validate } = webhook;
    const add = (verb: WebhookVerb, answer: Answer): void =>
      void this.answers.set(pathOf(verb, name), answer);
    if (fill) add('mutate', (review, call) => admit(webhook, fillIn, review, call));
    if (validate) add('validate', (review, call) => admit(webhook, judge, review, call));
    if (convert) add('convert', async (review) => reviewConversion(webhook, review));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = URL.parse(request.url ?? '/', 'https://webhooks');
    if (!target) return finish(response, 400, 'the request target is no path\n');
    const { pathname, searchParams } = target;
    const answer = this.answers.get(pathname);
    if (!answer) {
      const isHealth = pathname === '/healthz' && request.method === 'GET';
      return finish(response, isHealth ? 200 : 404, isHealth ? 'ok\n' : 'no webhook has this path\n');
    }
    if (request.method !== 'POST') return finish(response, 405, 'only POST\n');
    const { clock, logger, metrics, tracer } = this.parts;
    const startedMs = clock.monotonicNow();
    const limit = AbortSignal.any([AbortSignal.timeout(timeoutOf(searchParams)), closing(response)]);
    const parent = readTraceHeaders(request.headers);
    const span = tracer.startSpan(`webhook ${pathname}`, { kind: SpanKind.SERVER }, parent);
    metrics.begun(pathname);
    let code = 200;
    try {
      const review = parseJson(await bodyOf(request));
      const call = { signal: limit, logger: logger.child({ webhook: pathname }), span };
      const said = await context.with(trace.setSpan(parent, span), () => answer(review, call));
      response.setHeader('content-type', 'application/json');
      finish(response, code, stringifyJson(said));
    } catch (error) {
      code = codeOf(error);
      describeFailure(span, error);
      logger.warn('a webhook failed', { webhook: pathname, code, error: errorMessage(error) });
      // The failure policy of the webhook decides what becomes of the request.
      finish(response, code, `${errorMessage(error)}\n`);
    } finally {
      span.setAttribute('http.response.status_code', code);
      span.end();
      metrics.ended(pathname, code, clock.monotonicNow() - startedMs);
    }
  }
}

async function admit(
  webhook: WebhookDefinition,
  handle: typeof fillIn,
  review: unknown,
  call: CallContext,
): Promise<object> {
  const request = readAdmissionReview(review);
  const { dryRun, name, namespace, operation } = request;
  call.span.setAttributes({
    'k8s.operation': operation,
    'k8s.name': name,
    ...(namespace !== undefined && { 'k8s.namespace.name': namespace }),
    'k8s.dry_run': dryRun,
  });
  const admission = await handle(webhook, request, call);
  if (admission.refusal) {
    const { message } = admission.refusal;
    call.span.setAttribute('k8s.refused', message);
    call.logger.debug('refused', { operation, name, namespace, message });
  }
  return admissionReview(request.uid, admission);
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

class TooLargeError extends Error {}

async function bodyOf(request: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > LARGEST_BODY) throw new TooLargeError(`a review of more than ${LARGEST_BODY} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The server says for how long it waits: `?timeout=10s`. */
function timeoutOf(query: URLSearchParams): number {
  const [, seconds = ''] = /^(\d{1,4})s$/.exec(query.get('timeout') ?? '') ?? [];
  return seconds === '' ? LONGEST_MS : Math.min(Math.max(Number(seconds), 1) * 1000, LONGEST_MS);
}

/** Aborts when the connection ends before the answer. */
function closing(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableEnded) gone.abort(new Error('the API server does not wait any more'));
  });
  return gone.signal;
}

function codeOf(error: unknown): number {
  if (error instanceof TooLargeError) return 413;
  return error instanceof MalformedReviewError || error instanceof SyntaxError ? 400 : 500;
}

function describeFailure(span: Span, error: unknown): void {
  span.recordException(error instanceof Error ? error : String(error));
  span.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(error) });
}

function finish(response: ServerResponse, code: number, text: string): void {
  response.statusCode = code;
  response.end(text);
}

interface CallContext {
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly span: Span;
}

/** Returns the changes that `default` makes in the object, as a patch. Rejects as the handler does. */
async function fillIn(
  { default: fill }: WebhookDefinition,
  reviewed: ReviewedRequest,
  context: CallContext,
): Promise<Admission> {
  const { object } = reviewed;
  if (!fill || !object) return { warnings: [] };
  const { request, warnings } = requestFor(reviewed, context);
  const draft = cloneJson(object);
  const filled = (await fill(draft, request)) ?? draft;
  return { warnings, patch: jsonPatchBetween(object, filled) };
}

/** Returns the verdict of `validate` on the object. Rejects as the handler does. */
async function judge(
  { kind, validate }: WebhookDefinition,
  reviewed: ReviewedRequest,
  context: CallContext,
): Promise<Admission> {
  const subject = reviewed.object ?? reviewed.old;
  if (!validate || !subject) return { warnings: [] };
  const { request, warnings } = requestFor(reviewed, context);
  const verdict = await validate(subject, request);
  const name = request.name || (subject.metadata.generateName ?? '');
  return { warnings, refusal: refusalOf(verdict, { ...kind, name }) };
}

function requestFor(reviewed: ReviewedRequest, context: CallContext) {
  const { dryRun, name, namespace, old, operation, options, user } = reviewed;
  const warnings: string[] = [];
  const request: AdmissionRequest<KubernetesObject> = {
    ...{ dryRun, name, namespace, old, operation, options, user },
    ...context,
    warn: (text) => void warnings.push(text),
  };
  return { request, warnings };
}
