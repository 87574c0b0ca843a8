import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../../base/clock/index.js';
import { parseJson, stringifyJson } from '../../../base/kubernetes/index.js';
import type { ReviewRequest, ReviewResponse } from './admission-review.js';
import { readReview } from './admission-review.js';
import type { ServiceAddresses } from './service-addresses.js';
import type { Webhook } from './webhook.js';

/** Bytes of an answer that are read: as much as a request may have. */
const MAX_ANSWER_BYTES = 3 * 1024 * 1024;

/** A webhook could not be asked, or did not answer so that anybody would understand. */
export class WebhookCallError extends Error {
  constructor(webhook: string, problem: string, cause?: unknown) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${problem}`, { cause });
  }
}

/** Where a webhook is, as its configuration says. */
interface Place {
  /** As errors show it. */
  readonly url: string;
  /** The name on its certificate. */
  readonly servername: string;
  /** Behind the origin. */
  readonly path: string;
  /** `https://host:port`, as far as it is known without asking. */
  readonly origin?: string;
}

/** Asks webhooks over HTTPS. Follows no redirects, and reads no more than a bounded answer. */
export class WebhookClient {
  private readonly agents = new WeakMap<Webhook, Agent>();

  constructor(
    private readonly services: ServiceAddresses,
    private readonly clock: Clock,
  ) {}

  /** @throws WebhookCallError */
  async ask(webhook: Webhook, request: ReviewRequest): Promise<ReviewResponse> {
    const { name, reviewVersion } = webhook;
    if (!reviewVersion)
      throw new WebhookCallError(name, 'could not get REST client: unsupported admission review versions');
    const body = stringifyJson({
      kind: 'AdmissionReview',
      apiVersion: `admission.k8s.io/${reviewVersion}`,
      request,
    });
    const answer = await this.post(webhook, body);
    try {
      return readReview(answer, request.uid, reviewVersion);
    } catch (error) {
      throw new WebhookCallError(
        name,
        `received invalid webhook response: ${(error as Error).message}`,
        error,
      );
    }
  }

  private async post(webhook: Webhook, body: string): Promise<unknown> {
    const stop = new AbortController();
    const timer = this.clock.setTimeout(() => stop.abort(), webhook.timeoutSeconds * 1000);
    const { origin, path, servername, url } = placeOf(webhook);
    try {
      const response = await this.agentOf(webhook, servername).request({
        origin: origin ?? (await this.originOf(webhook)),
        path,
        method: 'POST',
        headers: { host: new URL(url).host, 'content-type': 'application/json', accept: 'application/json' },
        body,
        signal: stop.signal,
      });
      const text = await readBounded(response.body);
      if (response.statusCode >= 200 && response.statusCode < 300) return parseJson(text);
      throw new WebhookStatusError(statusProblem(response.statusCode, text));
    } catch (error) {
      const problem = stop.signal.aborted ? 'context deadline exceeded' : describeFailure(error as Error);
      const shown = error instanceof WebhookStatusError ? '' : `Post ${JSON.stringify(url)}: `;
      throw new WebhookCallError(webhook.name, `failed to call webhook: ${shown}${problem}`, error);
    } finally {
      timer.cancel();
    }
  }

  private async originOf({ client }: Webhook): Promise<string> {
    const { name = '', namespace = '', port = 443 } = client.service ?? {};
    return `https://${await this.services.addressOf({ namespace, name, port })}`;
  }

  private agentOf(webhook: Webhook, servername: string): Dispatcher {
    const known = this.agents.get(webhook);
    if (known) return known;
    const { caBundle } = webhook.client;
    const ca = caBundle ? Buffer.from(caBundle, 'base64').toString() : undefined;
    const timeout = webhook.timeoutSeconds * 1000;
    // An address has no server name of its own.
    const isAddress = /^[\d.]+$|:/.test(servername);
    const agent = new Agent({ connect: { timeout, ...(ca && { ca }), ...(!isAddress && { servername }) } });
    this.agents.set(webhook, agent);
    return agent;
  }
}

/** It answered with a failure. */
class WebhookStatusError extends Error {}

function placeOf({ client, timeoutSeconds }: Webhook): Place {
  const query = `?timeout=${timeoutSeconds}s`;
  if (client.url !== undefined) {
    const { hostname, origin, pathname } = new URL(client.url);
    return { url: client.url + query, servername: hostname, path: pathname + query, origin };
  }
  const { name = '', namespace = '', path = '/', port = 443 } = client.service ?? {};
  const servername = `${name}.${namespace}.svc`;
  return { url: `https://${servername}:${port}${path}${query}`, servername, path: path + query };
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function statusProblem(code: number, text: string): string {
  if (code === 404) return 'the server could not find the requested resource';
  const shown = JSON.stringify(text.trim().slice(0, 256));
  return code >= 500
    ? `an error on the server (${shown}) has prevented the request from succeeding`
    : `the server responded with the status code ${code} but did not return more information`;
}

/** What Go says of the same failure, for the frequent ones. */
function describeFailure(
  error: Error & { readonly code?: string; readonly address?: string; readonly port?: number },
): string {
  const { address = '', code = '', port = 0 } = error;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: connect: connection refused`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${(error as { readonly hostname?: string }).hostname ?? ''}: no such host`;
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'context deadline exceeded';
    case 'UND_ERR_SOCKET':
      return 'EOF';
    case 'CERT_SIGNATURE_FAILURE':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
    case 'CERT_HAS_EXPIRED':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid';
    default:
      return error.message;
  }
}
