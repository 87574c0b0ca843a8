import type { Dispatcher } from 'undici';
import { request } from 'undici';
import type { Clock } from '@rollkeeper/machinery/clock';
import { ExpectedError, errorMessage } from '@rollkeeper/machinery/errors';
import { parseJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { agentTrusting } from '@rollkeeper/tls';
import type { ConsoleCluster } from './console-clusters.js';

/** `well`: a replica there works. `ailing`: one answers, and is not ready. `away`: none answers. */
export type ClusterHealth =
  { readonly health: 'well' | 'ailing' } | { readonly health: 'away'; readonly why: string };

/** The answer of another cluster to a browser's session of its own. */
export type ClusterAnswer<T> =
  | { readonly answer: T; readonly refused?: undefined; readonly away?: undefined }
  /** It knows the session no more, or the user may not. */
  | { readonly refused: string; readonly answer?: undefined; readonly away?: undefined }
  | { readonly away: string; readonly answer?: undefined; readonly refused?: undefined };

interface OtherClustersParts {
  readonly clusters: readonly ConsoleCluster[];
  /** PEM. Absent: the authorities that Node.js trusts. */
  readonly caFile?: string | undefined;
  readonly clock: Pick<Clock, 'monotonicNow'>;
}

const HEALTH_TIMEOUT_MS = 2000;
const ANSWER_TIMEOUT_MS = 10_000;
/** Looks of all people within this time share one answer. */
const HEALTH_COUNTS_MS = 5000;
const MOST_BYTES = 8 * 1024 * 1024;
/** Makes the other console take the request for what it is: not one from its own machine. */
const FORWARDED = { via: '1.1 rollkeeper-console' };

class TooLongError extends ExpectedError {}

/**
 * The consoles of other clusters, asked for a person's browser. Nothing of this installation goes along: a look at the
 * health has no credentials at all, and everything else the session that the other console has given to that browser.
 */
export class OtherClusters {
  readonly list: readonly ConsoleCluster[];
  private agent: Dispatcher | undefined;
  private readonly looks = new Map<
    string,
    { readonly atMs: number; readonly health: Promise<ClusterHealth> }
  >();

  constructor(private readonly parts: OtherClustersParts) {
    this.list = parts.clusters;
  }

  named(name: string): ConsoleCluster | undefined {
    return this.list.find((cluster) => cluster.name === name);
  }

  /** Never rejects. */
  health(cluster: ConsoleCluster): Promise<ClusterHealth> {
    const nowMs = this.parts.clock.monotonicNow();
    const known = this.looks.get(cluster.name);
    if (known && nowMs - known.atMs < HEALTH_COUNTS_MS) return known.health;
    const health = this.lookAt(cluster);
    this.looks.set(cluster.name, { atMs: nowMs, health });
    return health;
  }

  /** The problems there, as far as the session's user may know. Never rejects. */
  problems(cluster: ConsoleCluster, session: string): Promise<ClusterAnswer<unknown>> {
    return this.ask(cluster, { path: '/admin/problems', session });
  }

  /** A session for a ticket that the other console has given to the browser. Never rejects. */
  takeOver(cluster: ConsoleCluster, ticket: string): Promise<ClusterAnswer<unknown>> {
    return this.ask(cluster, { path: '/admin/sign-in/take-over', body: { ticket } });
  }

  async close(): Promise<void> {
    await this.agent?.close();
  }

  private async lookAt({ url }: ConsoleCluster): Promise<ClusterHealth> {
    try {
      const { body, statusCode } = await request(`${url}/readyz`, {
        headers: FORWARDED,
        signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
        dispatcher: this.connections(),
      });
      await body.dump();
      if (statusCode === 200) return { health: 'well' };
      if (statusCode === 503) return { health: 'ailing' };
      return { health: 'away', why: `it answers ${statusCode}` };
    } catch (error) {
      return { health: 'away', why: errorMessage(error) };
    }
  }

  private async ask(
    { url }: ConsoleCluster,
    asked: { readonly path: string; readonly session?: string; readonly body?: object },
  ): Promise<ClusterAnswer<unknown>> {
    const { body, path, session } = asked;
    try {
      const response = await request(url + path, {
        method: body ? 'POST' : 'GET',
        headers: {
          ...FORWARDED,
          ...(body && { 'content-type': 'application/json' }),
          ...(session !== undefined && { authorization: `Bearer ${session}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        dispatcher: this.connections(),
      });
      const answer = parseJson(await textOf(response.body));
      if (response.statusCode === 200) return { answer };
      const error = isJsonObject(answer) ? answer['error'] : undefined;
      const said = typeof error === 'string' ? error : `it answers ${response.statusCode}`;
      return [401, 403].includes(response.statusCode) ? { refused: said } : { away: said };
    } catch (error) {
      return { away: errorMessage(error) };
    }
  }

  private connections(): Dispatcher {
    return (this.agent ??= agentTrusting(this.parts.caFile));
  }
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new TooLongError(`its answer has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
