import { LuaScript } from '../../../src/redis/connection/index.js';
import type { ChaosReplica } from '../set/replica.js';

/** A step of a sync of a ReplicaSet that another process can see. */
export type Step =
  | { readonly on: 'redis'; readonly script: 'store-intents' | 'release' }
  | { readonly on: 'api'; readonly method: 'POST' | 'DELETE'; readonly nth: number };

export interface CrashPoint {
  readonly name: string;
  readonly step: Step;
  /** `before`: what was sent never arrives. `after`: it was done, and its answer never arrives. */
  readonly when: 'before' | 'after';
  readonly work: 'create' | 'delete';
}

const PODS = /^\/api\/v1\/namespaces\/[^/]+\/pods(\/|$|\?)/;
/** Enough for Redis on loopback to have done what it was sent. */
const DONE_AFTER_MS = 30;

function pointsOf(work: CrashPoint['work'], method: 'POST' | 'DELETE', writes: number): CrashPoint[] {
  const what = work === 'create' ? 'creation' : 'deletion';
  const steps: (readonly [string, Step])[] = [
    ['the intents are stored', { on: 'redis', script: 'store-intents' }],
    ...Array.from(
      { length: writes },
      (_, index) => [`${what} ${index + 1} of ${writes}`, { on: 'api', method, nth: index + 1 }] as const,
    ),
    ['the own writes are stored', { on: 'redis', script: 'release' }],
  ];
  return steps.flatMap(([text, step]) =>
    (['before', 'after'] as const).map((when) => ({ name: `${work}: ${when} ${text}`, step, when, work })),
  );
}

/** Between every two steps: four pods are created (in batches of 1, 2 and 1), and three are deleted. */
export const CRASH_POINTS: readonly CrashPoint[] = [
  ...pointsOf('create', 'POST', 4),
  ...pointsOf('delete', 'DELETE', 3),
];

/**
 * Kills the replica that comes to the point first, `kill -9`, in the middle of the step. Resolves with its name
 * once that has happened.
 * @param belongs whether a path or a key concerns the Deployment in question
 */
export function crashAt(
  point: CrashPoint,
  replicas: readonly ChaosReplica[],
  belongs: (text: string) => boolean,
): Promise<string> {
  return new Promise((resolve) => {
    const crash = (replica: ChaosReplica): void => {
      for (const { apiAnswers, redisLink } of replicas) {
        apiAnswers.onWrite = undefined;
        redisLink.onToServer = undefined;
      }
      replica.process.signal('SIGKILL');
      // The links of the dead are closed; nothing of what they hold may arrive any more.
      replica.redisLink.heal({ breakHeld: true });
      resolve(replica.name);
    };
    const { step } = point;
    for (const replica of replicas) {
      if (step.on === 'redis') watchRedis(replica, point, step.script, belongs, crash);
      else watchApi(replica, point, step, belongs, crash);
    }
  });
}

function watchRedis(
  replica: ChaosReplica,
  { when }: CrashPoint,
  script: string,
  belongs: (text: string) => boolean,
  crash: (replica: ChaosReplica) => void,
): void {
  const sha = shaOf(script);
  replica.redisLink.onToServer = (chunk) => {
    const text = chunk.toString('latin1');
    if (!text.includes(sha) || !text.includes('actor:replicaset:') || !belongs(text)) return 'pass';
    replica.redisLink.onToServer = undefined;
    if (when === 'before') {
      crash(replica);
      return 'drop';
    }
    replica.redisLink.hold('toClient');
    setTimeout(() => crash(replica), DONE_AFTER_MS);
    return 'pass';
  };
}

function watchApi(
  replica: ChaosReplica,
  { when: wanted }: CrashPoint,
  { method: wantedMethod, nth }: Extract<Step, { on: 'api' }>,
  belongs: (text: string) => boolean,
  crash: (replica: ChaosReplica) => void,
): void {
  let count = 0;
  replica.apiAnswers.onWrite = ({ body, method, path, when }) => {
    if (when !== wanted || method !== wantedMethod || !PODS.test(path)) return;
    if (!belongs(path) && !belongs(body.toString())) return;
    count += 1;
    if (count !== nth) return;
    crash(replica);
    throw new Error('the replica is dead');
  };
}

function shaOf(script: string): string {
  const file = new URL(`../../../src/redis/activation/lua/${script}-1.lua`, import.meta.url);
  return new LuaScript(file).sha;
}
