import { createHash } from 'node:crypto';
import type {
  ApiClient,
  ClusterConnection,
  HttpApiClient,
  ImpersonatedUser,
} from '@rollkeeper/client/api-client';
import { bearerToken, createHttpApiClient, impersonating } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { VERSION } from '@rollkeeper/machinery/version';
import type { AskingOne } from '../admin/delegated-access/index.js';

interface UserClientsParts {
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
/** With more users at once, the one that was inactive the longest has to wait for new connections. */
const MOST = 50;

/**
 * Clients of the replica's API server in the name of a person, so that the server itself decides what they may see and
 * do. With the bearer token of that person nothing of the replica's own identity goes along; for a user whom the replica
 * has authenticated itself, it asks the server to take it for that user.
 */
export class UserClients {
  private readonly known = new Map<string, UserClient>();

  constructor(private readonly parts: UserClientsParts) {}

  of(who: AskingOne): ApiClient {
    const nowMs = this.parts.clock.now();
    this.closeIdle(nowMs);
    // The token itself is not kept as a key, where a heap dump would show it beside its user.
    const id = createHash('sha256').update(JSON.stringify(who)).digest('hex');
    const known = this.known.get(id) ?? { client: this.make(who), usedMs: nowMs };
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

  private make(who: AskingOne): HttpApiClient {
    const { clock, connection, logger } = this.parts;
    return createHttpApiClient({
      connection: who.user ? asUser(connection, who.user) : withToken(connection, who.token),
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

function withToken(connection: ClusterConnection, token: string): ClusterConnection {
  const { proxyUrl, serverUrl, source } = connection;
  return {
    serverUrl,
    ...(proxyUrl !== undefined && { proxyUrl }),
    credentials: bearerToken(token),
    get tls() {
      return withoutIdentity(connection.tls);
    },
    source,
  };
}

function asUser(connection: ClusterConnection, user: ImpersonatedUser): ClusterConnection {
  const { proxyUrl, serverUrl, source } = connection;
  return {
    serverUrl,
    ...(proxyUrl !== undefined && { proxyUrl }),
    credentials: impersonating(connection.credentials, user),
    get tls() {
      return connection.tls;
    },
    source,
  };
}

const stripped = new WeakMap<ClusterConnection['tls'], ClusterConnection['tls']>();

/** Trust without the client certificate. The same object for the same settings, as a new one means new connections. */
function withoutIdentity(tls: ClusterConnection['tls']): ClusterConnection['tls'] {
  const { cert: _cert, key: _key, ...trust } = tls;
  const known = stripped.get(tls) ?? trust;
  stripped.set(tls, known);
  return known;
}
