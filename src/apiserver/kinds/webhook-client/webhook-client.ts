import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import type { WebhookClientConfig } from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { Clock } from '@rollkeeper/machinery/clock';
import { parseJson } from '@rollkeeper/machinery/kubernetes';
import { checkJsonText, MAX_DEPTH } from '../../schema/index.js';
import type { ServiceAddresses } from './service-addresses.js';

/** A webhook as its configuration says; what is the same object is reached over the same connections. */
export interface WebhookTarget {
  readonly client: WebhookClientConfig;
  readonly timeoutSeconds: number;
  /** Bytes of an answer that are read. */
  readonly maxAnswerBytes: number;
}

/** A webhook could not be asked, or did not answer with JSON. */
export class WebhookCallError extends Error {}

/** The address of a webhook, as its configuration says. */
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

/** Asks webhooks. */
export interface WebhookCaller {
  /** Sends a text of JSON, and reads the one that comes back. Rejects where no JSON comes back. */
  post(target: WebhookTarget, body: string): Promise<unknown>;
}

/** Asks webhooks over HTTPS. Follows no redirects, and reads no more than a bounded answer. */
export class WebhookClient implements WebhookCaller {
  private readonly agents = new WeakMap<WebhookTarget, Agent>();

  constructor(
    private readonly services: ServiceAddresses,
    private readonly clock: Clock,
  ) {}

  /** Sends a text of JSON, and reads the one that comes back. @throws WebhookCallError */
  async post(target: WebhookTarget, body: string): Promise<unknown> {
    const stop = new AbortController();
    const timer = this.clock.setTimeout(() => stop.abort(), target.timeoutSeconds * 1000);
    const { origin, path, servername, url } = placeOf(target);
    try {
      const response = await this.agentOf(target, servername).request({
        origin: origin ?? (await this.originOf(target)),
        path,
        method: 'POST',
        headers: { host: new URL(url).host, 'content-type': 'application/json', accept: 'application/json' },
        body,
        signal: stop.signal,
      });
      const text = await readBounded(response.body, target.maxAnswerBytes);
      if (response.statusCode >= 200 && response.statusCode < 300) return readAnswer(text);
      throw new WebhookStatusError(statusProblem(response.statusCode, text));
    } catch (error) {
      const problem = stop.signal.aborted ? 'context deadline exceeded' : describeFailure(error as Error);
      const shown = error instanceof WebhookStatusError ? '' : `Post ${JSON.stringify(url)}: `;
      throw new WebhookCallError(shown + problem, { cause: error });
    } finally {
      timer.cancel();
    }
  }

  private async originOf({ client }: WebhookTarget): Promise<string> {
    const { name = '', namespace = '', port = 443 } = client.service ?? {};
    return `https://${await this.services.addressOf({ namespace, name, port })}`;
  }

  private agentOf(target: WebhookTarget, servername: string): Dispatcher {
    const known = this.agents.get(target);
    if (known) return known;
    const { caBundle } = target.client;
    const ca = caBundle ? Buffer.from(caBundle, 'base64').toString() : undefined;
    const timeout = target.timeoutSeconds * 1000;
    // An address has no server name of its own.
    const isAddress = /^[\d.]+$|:/.test(servername);
    const agent = new Agent({ connect: { timeout, ...(ca && { ca }), ...(!isAddress && { servername }) } });
    this.agents.set(target, agent);
    return agent;
  }
}

/** Levels of an answer around the objects in it: itself, its response, and their list. */
const WRAPPING = 3;

/** It answered with a failure. */
class WebhookStatusError extends Error {}

function placeOf({ client, timeoutSeconds }: WebhookTarget): Place {
  const query = `?timeout=${timeoutSeconds}s`;
  if (client.url !== undefined) {
    const { hostname, origin, pathname } = new URL(client.url);
    return { url: client.url + query, servername: hostname, path: pathname + query, origin };
  }
  const { name = '', namespace = '', path: given, port = 443 } = client.service ?? {};
  const path = given || '/';
  const servername = `${name}.${namespace}.svc`;
  return { url: `https://${servername}:${port}${path}${query}`, servername, path: path + query };
}

/** As many values as there is room for: an answer may be about a page of objects. */
function readAnswer(text: string): unknown {
  checkJsonText(text, { maxDepth: MAX_DEPTH + WRAPPING, maxValues: Infinity });
  return parseJson(text);
}

async function readBounded(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the answer has more than ${maxBytes} bytes`);
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

/** Go's words for the same failure, for the frequent ones. */
function describeFailure(
  error: Error & {
    readonly code?: string;
    readonly address?: string;
    readonly hostname?: string;
    readonly port?: number;
  },
): string {
  const { address = '', code = '', hostname = '', port = 0 } = error;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: connect: connection refused`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${hostname}: no such host`;
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
