import { createHash } from 'node:crypto';
import type { ApiClient, ClusterConnection, HttpApiClient } from '@rollkeeper/client/api-client';
import { bearerToken, createHttpApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { VERSION } from '@rollkeeper/machinery/version';

export interface UserClientsParts {
  readonly connection: ClusterConnection;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface UserClient {
  readonly client: HttpApiClient;
  usedMs: number;
}

/** One that was not used for this long is closed. */
const IDLE_MS = 5 * 60_000;
/** More users at once make the one wait for new connections who was away the longest. */
const MOST = 50;

/**
 * Clients of the replica's API server that carry the bearer token of a person, so that the server itself decides what
 * they may see and do. Nothing of the replica's own identity goes with them.
 */
export class UserClients {
  private readonly known = new Map<string, UserClient>();

  constructor(private readonly parts: UserClientsParts) {}

  of(token: string): ApiClient {
    const nowMs = this.parts.clock.now();
    this.closeIdle(nowMs);
    // The token itself is not kept as a key, where a heap dump would show it beside its user.
    const id = createHash('sha256').update(token).digest('hex');
    const known = this.known.get(id) ?? { client: this.make(token), usedMs: nowMs };
    known.usedMs = nowMs;
    this.known.delete(id);
    this.known.set(id, known);
    return known.client;
  }

  async close(): Promise<void> {
    const all = [...this.known.values()];
    this.known.clear();
    await Promise.all(all.map(({ client }) => client.close()));
  }

  private make(token: string): HttpApiClient {
    const { clock, connection, logger } = this.parts;
    const { proxyUrl, serverUrl, source } = connection;
    return createHttpApiClient({
      connection: {
        serverUrl,
        ...(proxyUrl !== undefined && { proxyUrl }),
        credentials: bearerToken(token),
        get tls() {
          return withoutIdentity(connection.tls);
        },
        source,
      },
      userAgent: `rollkeeper/${VERSION} (console)`,
      clock,
      logger,
    });
  }

  private closeIdle(nowMs: number): void {
    for (const [id, { client, usedMs }] of this.known) {
      if (nowMs - usedMs < IDLE_MS && this.known.size < MOST) return;
      this.known.delete(id);
      void client.close();
    }
  }
}

const stripped = new WeakMap<ClusterConnection['tls'], ClusterConnection['tls']>();

/** Trust without the client certificate. The same object for the same settings, as a new one means new connections. */
function withoutIdentity(tls: ClusterConnection['tls']): ClusterConnection['tls'] {
  const { cert: _cert, key: _key, ...trust } = tls;
  const known = stripped.get(tls) ?? trust;
  stripped.set(tls, known);
  return known;
}
