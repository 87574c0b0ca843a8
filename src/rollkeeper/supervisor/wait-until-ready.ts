import type { Clock } from '@rollkeeper/machinery/clock';
import type { ProbedReplica } from './replica-probe.js';
import * as replicaProbe from './replica-probe.js';

const POLL_MS = 50;
/** Less than this is a start like any other. */
const FIRST_SAID_MS = 10_000;
/** What is said changes with each process that ends and comes back; not every one of them is news. */
const SAID_EVERY_MS = 5000;
const NAMED_CHECKS = 2;

/** What runs, as the supervisor knows it. */
export interface Started {
  /** What the replicas need and does not run, in words: `the API server`. */
  readonly down: readonly string[];
  readonly replicas: readonly StartedReplica[];
}

/** Without an address while it does not run. */
export interface StartedReplica extends Partial<ProbedReplica> {
  readonly identity: string;
}

export interface WaitUntilReadyOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** With which replicas say who leads, where their pages are not on loopback. */
  readonly token: string | undefined;
  /** Told what is waited for, when it takes long, and each time that it is something else. */
  readonly onWait: (whatFor: string) => void;
  /** @default over HTTP */
  readonly probe?: Pick<typeof replicaProbe, 'askStatus' | 'failingChecks'>;
}

/**
 * Resolves once every replica is ready and one of them leads, however long that takes: what has died is started again, so that
 * waiting helps as it does later. Rejects with the signal's reason.
 */
export async function waitUntilReady(
  look: () => Started,
  { clock, onWait, probe = replicaProbe, signal, token }: WaitUntilReadyOptions,
): Promise<void> {
  const startedMs = clock.monotonicNow();
  let said = { text: '', atMs: startedMs + FIRST_SAID_MS - SAID_EVERY_MS };
  for (;;) {
    signal.throwIfAborted();
    const text = await whatIsMissing(look(), probe, token);
    if (text === undefined) return;
    const nowMs = clock.monotonicNow();
    if (text !== said.text && nowMs - said.atMs >= SAID_EVERY_MS) {
      onWait(text);
      said = { text, atMs: nowMs };
    }
    await clock.sleep(POLL_MS, signal);
  }
}

type Probe = NonNullable<WaitUntilReadyOptions['probe']>;

async function whatIsMissing(
  { down, replicas }: Started,
  probe: Probe,
  token: string | undefined,
): Promise<string | undefined> {
  const states = await Promise.all(replicas.map((replica) => stateOf(replica, probe)));
  const names = (state: 'down' | 'unready'): string[] =>
    states.flatMap((each) => (each?.state === state ? [each.name] : []));
  const [notRunning, notReady] = [[...down, ...names('down')], names('unready')];
  const parts = [
    ...(notRunning.length > 0 ? [`not running: ${notRunning.join(', ')}`] : []),
    ...(notReady.length > 0 ? [`not ready: ${notReady.join(', ')}`] : []),
  ];
  if (parts.length > 0) return parts.join('; ');
  const said = await Promise.all(replicas.filter(isProbed).map((replica) => probe.askStatus(replica, token)));
  return said.some((status) => status?.leader) ? undefined : 'no replica leads';
}

/** What there is to wait for; undefined: nothing. */
async function stateOf(
  replica: StartedReplica,
  { failingChecks }: Probe,
): Promise<{ state: 'down' | 'unready'; name: string } | undefined> {
  const { identity } = replica;
  if (!isProbed(replica)) return { state: 'down', name: identity };
  const failing = await failingChecks(replica);
  if (failing?.length === 0) return undefined;
  return { state: 'unready', name: failing ? `${identity} (${someOf(failing)})` : identity };
}

function isProbed(replica: StartedReplica): replica is StartedReplica & ProbedReplica {
  return replica.adminUrl !== undefined;
}

/** Where the API server is away, nearly all of them fail. */
function someOf(checks: readonly string[]): string {
  const others = checks.length - NAMED_CHECKS;
  const named = checks.slice(0, NAMED_CHECKS).join(', ');
  return others > 0 ? `${named} and ${others} more` : named;
}
