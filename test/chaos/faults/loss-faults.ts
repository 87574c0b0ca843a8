import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { untyped, Deployment, Lease } from '../../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import { aDeployment } from '../../e2e/support/a-deployment.js';
import type { ChaosSet } from '../set/chaos-set.js';
import type { Fault, FaultContext } from './fault.js';
import { endRedis } from './process-faults.js';

/**
 * Lets Redis forget the queues and the lease in one step, or puts older ones in their place. The objects of the API
 * server stay, and so do the locks of actors: without them, two replicas may process a key for a moment
 * (docs/REDIS.md). The harness' notes of the terms stay as well, and tell of the loss.
 *
 * ARGV: key, time to live in milliseconds (0: none), dump, ... of what is put back
 */
const LOSE = `
local noted = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  if string.match(key, ':state:term$') then
    redis.call('RPUSH', key .. ':chaos', 'lost 0 -')
  end
  if not string.match(key, '{storage}') and not string.match(key, ':actor:') and not string.match(key, ':chaos$') then
    redis.call('DEL', key)
  end
end
for index = 1, #ARGV, 3 do redis.call('RESTORE', ARGV[index], ARGV[index + 1], ARGV[index + 2], 'REPLACE') end
return 1
`;
const DEADLINE_SECONDS = 6;
/** After the deadline: what a new term and its initial list may take on a busy machine. */
const TOLD_WITHIN_MS = 15_000;
const NAMESPACE = 'kube-system';
const LEASE = 'rollkeeper:lease:leader';
const TERM = '{rollkeeper:queue:deployment}:state:term';
let probes = 0;

type Dumps = readonly (string | Buffer)[];
/** The data of an earlier moment, maybe of an earlier term. */
const kept = new WeakMap<ChaosSet, Dumps>();

function serverOf(set: ChaosSet): Redis {
  if (set.redis instanceof Redis) return set.redis;
  throw new Error('these faults need one server');
}

async function dumps(redis: Redis): Promise<Dumps> {
  const found: (string | Buffer)[] = [];
  for (const key of await redis.keys('*')) {
    if (/\{storage\}|:actor:|:chaos$/.test(key)) continue;
    const [dump, ttlMs] = await Promise.all([redis.dumpBuffer(key), redis.pttl(key)]);
    if (dump) found.push(key, String(Math.max(ttlMs, 0)), dump);
  }
  return found;
}

/**
 * Makes the fault while a rollout that cannot progress waits for its deadline: a timer in the queue is all that
 * reminds of it, and it must be told in time.
 */
function beforeADeadline(fault: Fault): Fault {
  return async (context) => {
    const { client } = context.set;
    const ref = { namespace: NAMESPACE, name: `deadline-${process.pid}-${++probes}` };
    const wish = aDeployment({ name: ref.name });
    const { spec } = wish;
    const template = { ...spec.template, spec: { ...spec.template.spec, nodeSelector: { such: 'none' } } };
    const stuck = { ...spec, replicas: 1, progressDeadlineSeconds: DEADLINE_SECONDS, template };
    const metadata = { ...wish.metadata, namespace: NAMESPACE };
    const read = (): Promise<Deployment> => client.get<Deployment>(Deployment, ref);
    try {
      await waitFor(() =>
        client.create(untyped(Deployment), { ...wish, metadata, spec: stuck }).then(
          () => true,
          () => read().then(Boolean, () => false),
        ),
      );
      await waitFor(async () => ((await read().catch(() => undefined))?.status?.updatedReplicas ?? 0) > 0, {
        timeoutMs: 60_000 * context.patience,
        what: 'the rollout that cannot progress to begin',
      });
      await pause(1000);
      await fault(context);
      await expectDeadlineTold(context, read);
    } finally {
      await client.delete(Deployment, ref).catch(() => undefined);
    }
  };
}

async function expectDeadlineTold(
  { failed, patience }: FaultContext,
  read: () => Promise<Deployment>,
): Promise<void> {
  const timeoutMs = DEADLINE_SECONDS * 1000 + TOLD_WITHIN_MS * patience;
  const isTold = async (): Promise<boolean> =>
    ((await read().catch(() => undefined))?.status?.conditions ?? []).some(
      ({ reason }) => reason === 'ProgressDeadlineExceeded',
    );
  await waitFor(isTold, { timeoutMs, intervalMs: 100 }).catch(() =>
    failed(`a progress deadline of ${DEADLINE_SECONDS} s was not reported within ${timeoutMs} ms`),
  );
}

/** As `FLUSHALL` does. */
export const loseRedisData: Fault = beforeADeadline(async ({ began, set }) => {
  began('Redis');
  await serverOf(set).eval(LOSE, 0);
});

/** As a server without persistence that is back at once. */
export const restartRedisEmpty: Fault = beforeADeadline(async (context) => {
  await serverOf(context.set).eval(LOSE, 0);
  await endRedis('SIGKILL')(context);
});

/** As the restore of a backup, or a replica that was behind: of the time of the last such fault, or of nothing. */
export const setRedisBack: Fault = beforeADeadline(async ({ began, set }) => {
  const redis = serverOf(set);
  const now = await dumps(redis);
  began('Redis');
  await redis.eval(LOSE, 0, ...(kept.get(set) ?? []));
  kept.set(set, now);
});

/**
 * As a fail-over to a replica that has missed the present term: the data of another one are in their place, at a server
 * that the replicas have not seen before.
 */
export const replaceRedisByOlder: Fault = beforeADeadline(async (context) => {
  const redis = serverOf(context.set);
  const older = await dumps(redis);
  await beginAnotherTerm(redis, context);
  await redis.eval(LOSE, 0, ...older);
  await endRedis('SIGKILL')(context);
});

/** Releases the lease, and waits until the queue of the Deployments knows the next term. */
async function beginAnotherTerm(redis: Redis, { patience, set }: FaultContext): Promise<void> {
  // With slots, no queue in Redis knows a term; the lease does.
  const known = set.slots > 0 ? LEASE : TERM;
  const epochOf = async (key: string): Promise<number> =>
    Number((await redis.hget(key, 'epoch').catch(() => '0')) ?? '0');
  const before = await epochOf(LEASE);
  await redis.hset(LEASE, { holder: '', expiresUs: 0 });
  await waitFor(async () => (await epochOf(known)) > before, {
    timeoutMs: 30_000 * patience,
    what: 'another term',
  });
}

/** Another one takes its place, or its holder creates it again. */
export const deleteLease: Fault = beforeADeadline(async ({ began, set }) => {
  began('the Lease');
  await set.client.delete(Lease, { namespace: 'kube-system', name: 'rollkeeper' });
});
