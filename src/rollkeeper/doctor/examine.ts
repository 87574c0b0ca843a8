import type { HttpApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { ClusterSnapshot, LeadershipStatus, QueueAnswer } from '../admin/index.js';
import { decideApi } from './decide-api.js';
import { decideCertificates } from './decide-certificates.js';
import { decideLeader } from './decide-leader.js';
import type { QueueFacts } from './decide-queues.js';
import { decideQueues } from './decide-queues.js';
import { decideRedis } from './decide-redis.js';
import { decideCaches, decideReplicas } from './decide-replicas.js';
import { decideRights } from './decide-rights.js';
import type { RivalFacts } from './decide-rivals.js';
import { decideRivals } from './decide-rivals.js';
import { decideWebhooks } from './decide-webhooks.js';
import type { Asked, Diagnosis, Finding } from './finding.js';
import { answered, diagnosisOf, notAsked } from './finding.js';
import type { ReplicaConfig } from './installation.js';
import { installationOf, subjectsOf } from './installation.js';
import { asking, readAdmission, readApi, readRivals } from './read-api.js';
import type { CertifiedConnection } from './read-certificates.js';
import { readCertificates } from './read-certificates.js';
import { readRedis } from './read-redis.js';
import { readRights } from './read-rights.js';

export interface DoctorOptions {
  readonly client: HttpApiClient;
  readonly apiUrl: string;
  /** The connection of `client`. Undefined: its certificates are not looked at. */
  readonly connection?: CertifiedConnection;
  readonly clock: Clock;
  /** Asks a replica's admin API. */
  readonly askAdmin: <T>(path: string) => Promise<T>;
  /** Undefined: Redis is not asked itself. */
  readonly redisUrl?: string;
  /** Whose rights count; undefined: those of the connection's user. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  /** What is examined where no replica says it. */
  readonly controllers: readonly string[];
  /** Undefined: no write is tried. */
  readonly tryIn?: string;
}

/** Looks at everything and writes nothing. What cannot be looked at is a finding, too. */
export async function examine(options: DoctorOptions, signal: AbortSignal): Promise<Diagnosis> {
  const { apiUrl, clock, connection } = options;
  const reader = { client: options.client, clock, signal };
  const [api, certificates, installed] = await Promise.all([
    readApi(reader, apiUrl),
    connection
      ? asking(signal, () => readCertificates(connection, signal))
      : notAsked('the connection is not known'),
    readReplicas(options, signal),
  ]);
  const { config, snapshot } = installed;
  const hasApi = api.is === 'answered';
  const installation = installationOf(config, options.controllers);
  const rivalQuestion = {
    namespaces: installation.namespaces,
    worksOnApps: installation.deploymentGroups.includes('apps'),
    sinceMs: firstStartOf(snapshot, clock.now()),
  };
  const unasked = notAsked('the API does not answer');
  const [rights, admission, rivals, redis, queues] = await Promise.all([
    hasApi
      ? asking(signal, () =>
          readRights(options.client, installation, subjectsOf(config, options.serviceAccount), signal),
        )
      : unasked,
    hasApi ? readAdmission(reader, { tryIn: options.tryIn }) : { webhooks: unasked, tried: unasked },
    hasApi ? readRivals(reader, rivalQuestion) : unseenRivals(rivalQuestion, unasked),
    options.redisUrl === undefined ? notAsked('no --redis-url') : readRedis(options.redisUrl, clock),
    readQueues(options, snapshot, signal),
  ]);
  const nowMs = clock.now();
  const findings: Finding[] = [
    ...decideApi(api),
    ...decideCertificates(certificates, nowMs),
    ...decideRights(rights),
    ...decideRedis({
      servers: redis,
      store: snapshot.is === 'answered' ? snapshot.value.store : undefined,
      keepsObjects: config?.standalone === true,
    }),
    ...decideReplicas(snapshot, nowMs),
    ...decideLeader(installed.leader, nowMs),
    ...decideCaches(snapshot),
    ...decideQueues(queues),
    ...decideWebhooks(admission, nowMs),
    ...decideRivals(rivals, nowMs),
  ];
  return diagnosisOf(findings);
}

function unseenRivals(
  { sinceMs, worksOnApps }: Pick<RivalFacts, 'sinceMs' | 'worksOnApps'>,
  unasked: Asked<never>,
): RivalFacts {
  return { sinceMs, worksOnApps, writers: unasked, managerLease: unasked, managerFlags: unasked };
}

interface Installed {
  readonly snapshot: Asked<ClusterSnapshot>;
  readonly leader: Asked<{ readonly snapshot: ClusterSnapshot; readonly leadership?: LeadershipStatus }>;
  readonly config?: ReplicaConfig;
}

async function readReplicas({ askAdmin }: DoctorOptions, signal: AbortSignal): Promise<Installed> {
  const snapshot = await asking(signal, () => askAdmin<ClusterSnapshot>('/admin/replicas'));
  if (snapshot.is !== 'answered') return { snapshot, leader: snapshot };
  const [leadership, config] = await Promise.all([
    asking(signal, () => askAdmin<LeadershipStatus>('/admin/leadership')),
    asking(signal, () => askAdmin<ReplicaConfig>('/admin/config')),
  ]);
  return {
    snapshot,
    leader: answered({
      snapshot: snapshot.value,
      ...(leadership.is === 'answered' && { leadership: leadership.value }),
    }),
    ...(config.is === 'answered' && { config: config.value }),
  };
}

/** Counts of every queue, and the keys of those that have parked some. */
async function readQueues(
  { askAdmin }: DoctorOptions,
  snapshot: Asked<ClusterSnapshot>,
  signal: AbortSignal,
): Promise<Asked<readonly QueueFacts[]>> {
  if (snapshot.is !== 'answered') return snapshot;
  return asking(signal, async () => {
    const all = await askAdmin<readonly QueueFacts[]>('/admin/queues');
    return Promise.all(
      all.map(async (queue) => {
        if (queue.counts.parked === 0) return queue;
        const path = `/admin/queues/${encodeURIComponent(queue.controller)}`;
        return { ...queue, parked: (await askAdmin<QueueAnswer>(path)).parked };
      }),
    );
  });
}

/** Earlier writes are those of a controller that worked here before. */
function firstStartOf(snapshot: Asked<ClusterSnapshot>, nowMs: number): number {
  if (snapshot.is !== 'answered') return nowMs;
  return Math.min(nowMs, ...snapshot.value.replicas.map(({ startedAtMs }) => startedAtMs));
}
