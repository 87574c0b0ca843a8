import { describeRedis } from '../../base/redis/index.js';
import { readAdminToken } from './credentials.js';
import { leads } from './replica-probe.js';
import { isAlive, readRunState } from './run-state.js';

/** What runs out of a data folder, for `rollkeeper status --json`. */
export interface UpStatus {
  readonly apiServer: { readonly url: string; readonly pid: number } | null;
  readonly redis: { readonly url: string; readonly pid: number | null } | null;
  readonly nodes: { readonly pid: number } | null;
  readonly replicas: readonly ReplicaLine[];
}

export interface ReplicaLine {
  readonly identity: string;
  readonly pid: number;
  readonly leader: boolean;
  readonly adminUrl: string;
  /** By which its admin pages are known, SHA-256; absent: they speak plain HTTP. */
  readonly certificates?: readonly string[];
}

/** Reads the run's state and asks each replica whether it leads. Undefined when nothing runs there. */
export async function readUpStatus(dataDir: string): Promise<UpStatus | undefined> {
  const state = await readRunState(dataDir);
  if (!state || !isAlive(state.supervisorPid)) return undefined;
  const { apiServer, nodes, redis } = state;
  const token = await readAdminToken(dataDir);
  return {
    apiServer: apiServer ? { url: apiServer.url ?? '', pid: apiServer.pid } : null,
    redis: redis ? { url: describeRedis(redis.url), pid: redis.pid ?? null } : null,
    nodes: nodes ?? null,
    replicas: await Promise.all(
      state.replicas.map(async (replica) => ({
        identity: replica.identity,
        pid: replica.pid,
        leader: await leads(replica, token),
        adminUrl: replica.adminUrl,
        ...(replica.certificates ? { certificates: replica.certificates } : {}),
      })),
    ),
  };
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
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}
