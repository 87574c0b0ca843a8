import { describeRedis } from '@rollkeeper/redis/connection';
import { readAdminToken } from './credentials.js';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { ReplicaStatus } from '../../admin/server/index.js';
import { WHILE_STORE_IS_SILENT } from '../../insight/silent-store.js';
import type { Style } from '../../terminal/index.js';
import { PLAIN, renderTable } from '../../terminal/index.js';
import { askStatus } from './replica-probe.js';
import { readLiveRunState } from './run-state.js';

/** The processes that run from a data folder, for `rollkeeper status --json`. */
export interface UpStatus {
  readonly apiServer: { readonly url: string; readonly pid: number } | null;
  readonly redis: RedisLine | null;
  readonly nodes: { readonly pid: number } | null;
  readonly replicas: readonly ReplicaLine[];
}

interface RedisLine {
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
  /** Only if it does not answer. */
  readonly answers?: false;
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
      ...(answer === undefined && { answers: false as const }),
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

/**
 * The status as a table for people.
 * @param isWide with the certificates of the admin ports
 */
export function renderUpStatus(status: UpStatus, { isWide = false, style = PLAIN }: StatusLook = {}): string {
  const { apiServer, nodes, redis, replicas } = status;
  const rows: (readonly string[])[] = [
    ['PROCESS', 'PID', 'ROLE', 'URL', ...(isWide ? ['CERTIFICATE'] : [])],
    ...(redis ? [['redis', String(redis.pid ?? '-'), 'store', redis.url]] : []),
    ...(apiServer ? [['apiserver', String(apiServer.pid), 'API server', apiServer.url]] : []),
    ...(nodes ? [['node', String(nodes.pid), 'simulated nodes', '-']] : []),
    ...replicas.map(({ adminUrl, answers, certificates = [], identity, leader, pid }) => [
      identity,
      String(pid),
      answers === false ? style.bad('does not answer') : leader ? style.good('leader') : 'replica',
      adminUrl,
      ...(isWide ? [certificates[0] ?? '-'] : []),
    ]),
  ];
  return [renderTable(rows, '   '), ...silenceLines(redis, style)].join('\n');
}

/** One process a line, as `-o name` prints objects. */
export function nameUpStatus({ apiServer, nodes, redis, replicas }: UpStatus): string {
  return [
    ...(redis ? ['redis'] : []),
    ...(apiServer ? ['apiserver'] : []),
    ...(nodes ? ['node'] : []),
    ...replicas.map(({ identity }) => `replica/${identity}`),
  ].join('\n');
}

interface StatusLook {
  readonly isWide?: boolean;
  readonly style?: Style;
}

function silenceLines(redis: UpStatus['redis'], style: Style): string[] {
  if (!redis || redis.answers) return [];
  const since = redis.silentSince === undefined ? '' : ` since ${redis.silentSince}`;
  return ['', style.bad(`Redis does not answer${since}: ${WHILE_STORE_IS_SILENT}.`)];
}
