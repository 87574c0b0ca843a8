import { describeRedis } from '@rollkeeper/redis/connection';
import { readAdminToken } from './credentials.js';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { ReplicaStatus } from '../admin/index.js';
import { WHILE_STORE_IS_SILENT } from '../silent-store.js';
import { askStatus } from './replica-probe.js';
import { readLiveRunState } from './run-state.js';

/** What runs from a data folder, for `rollkeeper status --json`. */
export interface UpStatus {
  readonly apiServer: { readonly url: string; readonly pid: number } | null;
  readonly redis: RedisLine | null;
  readonly nodes: { readonly pid: number } | null;
  readonly replicas: readonly ReplicaLine[];
}

export interface RedisLine {
  readonly url: string;
  readonly pid: number | null;
  /** As reported by the replicas, which check continuously. */
  readonly answers: boolean;
  /** RFC 3339: when it last answered a replica; only with `answers: false`. */
  readonly silentSince?: string;
}

export interface ReplicaLine {
  readonly identity: string;
  readonly pid: number;
  readonly leader: boolean;
  readonly adminUrl: string;
  /** SHA-256 fingerprints of its admin pages' certificates; absent: plain HTTP. */
  readonly certificates?: readonly string[];
}

/** Reads the run's state and queries each replica. Undefined if nothing runs there. */
export async function readUpStatus(dataDir: string): Promise<UpStatus | undefined> {
  const state = await readLiveRunState(dataDir);
  if (!state) return undefined;
  const { apiServer, nodes, redis } = state;
  const token = await readAdminToken(dataDir);
  const asked = await Promise.all(
    state.replicas.map(async (replica) => ({ replica, status: await askStatus(replica, token) })),
  );
  return {
    apiServer: apiServer ? { url: apiServer.url ?? '', pid: apiServer.pid } : null,
    redis: redis
      ? {
          url: describeRedis(redis.url),
          pid: redis.pid ?? null,
          ...redisAnswers(asked.map(({ status }) => status)),
        }
      : null,
    nodes: nodes ?? null,
    replicas: asked.map(({ replica, status: answer }) => ({
      identity: replica.identity,
      pid: replica.pid,
      leader: answer?.leader ?? false,
      adminUrl: replica.adminUrl,
      ...(replica.certificates ? { certificates: replica.certificates } : {}),
    })),
  };
}

/** A single replica may have lost its connection; the store is down when all that answer say so. */
function redisAnswers(
  replicas: readonly (ReplicaStatus | undefined)[],
): Pick<RedisLine, 'answers' | 'silentSince'> {
  const views = replicas.flatMap((replica) => replica?.store ?? []);
  if (views.length === 0 || views.some(({ answers }) => answers)) return { answers: true };
  const sinceMs = Math.min(...views.map(({ silentSinceMs = Infinity }) => silentSinceMs));
  return { answers: false, ...(Number.isFinite(sinceMs) && { silentSince: toRfc3339(sinceMs) }) };
}

/** The status as a table for people. */
export function renderUpStatus(status: UpStatus): string {
  const rows: (readonly [string, string, string, string])[] = [['PROCESS', 'PID', 'ROLE', 'URL']];
  if (status.redis) rows.push(['redis', String(status.redis.pid ?? '-'), 'store', status.redis.url]);
  if (status.apiServer)
    rows.push(['apiserver', String(status.apiServer.pid), 'API server', status.apiServer.url]);
  if (status.nodes) rows.push(['node', String(status.nodes.pid), 'simulated nodes', '-']);
  for (const { adminUrl, identity, leader, pid } of status.replicas) {
    rows.push([identity, String(pid), leader ? 'leader' : 'replica', adminUrl]);
  }
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  );
  return [...table, ...silenceLines(status.redis)].join('\n');
}

function silenceLines(redis: UpStatus['redis']): string[] {
  if (!redis || redis.answers) return [];
  const since = redis.silentSince === undefined ? '' : ` since ${redis.silentSince}`;
  return ['', `Redis does not answer${since}: ${WHILE_STORE_IS_SILENT}.`];
}
