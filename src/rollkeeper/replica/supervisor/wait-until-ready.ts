import type { Clock } from '@rollkeeper/machinery/clock';
import type { ProbedReplica } from './replica-probe.js';
import * as replicaProbe from './replica-probe.js';

const POLL_MS = 50;
/** A shorter start needs no message. */
const FIRST_SAID_MS = 10_000;
/** The message changes with each process that ends and comes back; not all of these are news. */
const SAID_EVERY_MS = 5000;
const NAMED_CHECKS = 2;

/** The supervisor's processes. */
export interface Started {
  /** Dependencies of the replicas that are down, in words: `the API server`. */
  readonly down: readonly string[];
  readonly replicas: readonly StartedReplica[];
}

/** Without an address while it is down. */
interface StartedReplica extends Partial<ProbedReplica> {
  readonly identity: string;
}

interface WaitUntilReadyOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Authorizes the query for the leader, if the pages are not on loopback. */
  readonly token: string | undefined;
  /** Called with what is being waited for, if it takes long, and whenever that changes. */
  readonly onWait: (whatFor: string) => void;
  /** @default over HTTP */
  readonly probe?: Pick<typeof replicaProbe, 'askStatus' | 'failingChecks'>;
}

/**
 * Resolves once every replica is ready and one of them leads, however long that takes: dead processes are restarted, so
 * waiting helps. Rejects with the signal's reason.
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

/** The part that is still missing; undefined: none. */
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

/** While the API server is down, nearly all of them fail. */
function someOf(checks: readonly string[]): string {
  const others = checks.length - NAMED_CHECKS;
  const named = checks.slice(0, NAMED_CHECKS).join(', ');
  return others > 0 ? `${named} and ${others} more` : named;
}
