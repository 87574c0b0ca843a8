import type { HttpApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { FIRST_ANSWER_MS } from '../../terminal/first-answer.js';
import type { ClusterSnapshot, LeadershipStatus, QueueAnswer } from '../../admin/server/index.js';
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
import { decideSlots } from './decide-slots.js';
import { decideWebhooks } from './decide-webhooks.js';
import type { Asked, Diagnosis } from './finding.js';
import { answered, diagnosisOf, notAsked } from './finding.js';
import type { ReplicaConfig } from './installation.js';
import { installationOf, subjectsOf } from './installation.js';
import { decideSets } from './decide-sets.js';
import { asking, readAdmission, readApi, readRivals, readSets } from './read-api.js';
import type { CertifiedConnection } from '../../insight/beside/index.js';
import { readCertificates } from '../../insight/beside/index.js';
import { readRedis } from './read-redis.js';
import { readRights } from './read-rights.js';

export interface DoctorOptions {
  readonly client: HttpApiClient;
  readonly apiUrl: string;
  /** The connection of `client`. Undefined: its certificates are not looked at. */
  readonly connection?: CertifiedConnection;
  readonly clock: Clock;
  /** How long a first answer may take, milliseconds. @default FIRST_ANSWER_MS */
  readonly patienceMs?: number;
  /** Asks a replica's admin API. Undefined: no replica is known. */
  readonly askAdmin?: <T>(path: string) => Promise<T>;
  /** Undefined: Redis is not asked itself. */
  readonly redisUrl?: string;
  /** The account whose rights count; undefined: those of the connection's user. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  /** The controllers that are examined if no replica names them. */
  readonly controllers: readonly string[];
  /** Undefined: no write is tried. */
  readonly tryIn?: string;
}

/**
 * The share of the patience: limit of each question to a server that answers and is not ready. `doctor` reports an
 * outage within three seconds.
 */
const OF_UNREADY = 0.4;

/** Looks at everything and writes nothing. What cannot be looked at is a finding, too. */
export async function examine(options: DoctorOptions, signal: AbortSignal): Promise<Diagnosis> {
  const { clock, connection, patienceMs = FIRST_ANSWER_MS } = options;
  const [api, certificates, redis, installed] = await Promise.all([
    readApi({ client: options.client, clock, signal, withinMs: patienceMs }, options.apiUrl),
    connection
      ? asking({ clock, signal, withinMs: patienceMs }, (limited) => readCertificates(connection, limited))
      : notAsked('the connection is not known'),
    options.redisUrl === undefined
      ? notAsked('no --redis-url')
      : readRedis(options.redisUrl, clock, patienceMs),
    readReplicas(options, signal),
  ]);
  const { config, snapshot } = installed;
  const hasApi = api.is === 'answered';
  // Until here, each question waits for a first answer only. A server that is not ready may never give another one.
  const isReady = hasApi && api.value.notReady === undefined;
  const reader = {
    client: options.client,
    clock,
    signal,
    ...(!isReady && { withinMs: Math.round(patienceMs * OF_UNREADY) }),
  };
  const installation = installationOf(config, options.controllers);
  const rivalQuestion = {
    namespaces: installation.namespaces,
    worksOnApps: installation.deploymentGroups.includes('apps'),
    sinceMs: firstStartOf(snapshot, clock.now()),
  };
  const unasked = notAsked('the API does not answer');
  const subjects = subjectsOf(config, options.serviceAccount);
  const [rights, admission, rivals, queues, sets] = await Promise.all([
    hasApi
      ? asking(reader, (limited) =>
          readRights(options.client, installation, subjects, { clock, signal: limited }),
        )
      : unasked,
    hasApi ? readAdmission(reader, { tryIn: options.tryIn }) : { webhooks: unasked, tried: unasked },
    hasApi ? readRivals(reader, rivalQuestion) : unseenRivals(rivalQuestion, unasked),
    readQueues(options, snapshot, signal),
    hasApi ? readSets(reader, installation.namespaces) : unasked,
  ]);
  const nowMs = clock.now();
  return diagnosisOf([
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
    ...[...decideSlots(snapshot), ...decideCaches(snapshot)],
    ...decideQueues(queues),
    ...decideWebhooks(admission, nowMs),
    ...decideRivals(rivals, nowMs),
    ...decideSets(sets, config && installation.statefulSets),
  ]);
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

/** A replica that answers one question answers the next ones as soon; its store may hang. */
async function readReplicas(
  { askAdmin, clock, patienceMs = FIRST_ANSWER_MS }: DoctorOptions,
  signal: AbortSignal,
): Promise<Installed> {
  if (!askAdmin) {
    const unasked = notAsked('no replica is known');
    return { snapshot: unasked, leader: unasked };
  }
  const asker = { clock, signal, withinMs: patienceMs };
  const snapshot = await asking(asker, () => askAdmin<ClusterSnapshot>('/admin/replicas'));
  if (snapshot.is !== 'answered') return { snapshot, leader: snapshot };
  const [leadership, config] = await Promise.all([
    asking(asker, () => askAdmin<LeadershipStatus>('/admin/leadership')),
    asking(asker, () => askAdmin<ReplicaConfig>('/admin/config')),
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
  { askAdmin, clock, patienceMs = FIRST_ANSWER_MS }: DoctorOptions,
  snapshot: Asked<ClusterSnapshot>,
  signal: AbortSignal,
): Promise<Asked<readonly QueueFacts[]>> {
  if (snapshot.is !== 'answered' || !askAdmin)
    return snapshot.is === 'answered' ? notAsked('no replica is known') : snapshot;
  return asking(
    {
      clock,
      signal,
      ...(!snapshot.value.store.answers && { withinMs: Math.round(patienceMs * OF_UNREADY) }),
    },
    async () => {
      const all = await askAdmin<readonly QueueFacts[]>('/admin/queues');
      return Promise.all(
        all.map(async (queue) => {
          if (queue.counts.parked === 0) return queue;
          const path = `/admin/queues/${encodeURIComponent(queue.controller)}`;
          return { ...queue, parked: (await askAdmin<QueueAnswer>(path)).parked };
        }),
      );
    },
  );
}

/** Earlier writes are those of a controller that worked here before. */
function firstStartOf(snapshot: Asked<ClusterSnapshot>, nowMs: number): number {
  if (snapshot.is !== 'answered') return nowMs;
  return Math.min(nowMs, ...snapshot.value.replicas.map(({ startedAtMs }) => startedAtMs));
}
