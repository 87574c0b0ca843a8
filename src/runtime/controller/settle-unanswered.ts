import type { Activation, UnansweredWrite } from '../actor/index.js';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, isNotFound } from '@rollkeeper/client/api-client';
import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import { WriteUnderWayError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';

/**
 * How long a server may be at work on a write whose client has gone, milliseconds. One that was overloaded threefold
 * took 650. Counted on the clocks of the replicas: who notes a write and who settles it may be two.
 */
const UNDER_WAY_MS = 1000;

/**
 * For so long a read that is forbidden is tried again, milliseconds: an authorizer says no to everybody for a moment after the
 * server's start. After it we may write what we may not read, and must do without. Who may delete and not read, as whoever
 * empties a namespace, has listed what there is and does so again: nothing depends on one deletion.
 */
const FORBIDDEN_MS = 30_000;

/** Reads at once, for one key. */
const READS_AT_ONCE = 8;

type Found = Pick<KubernetesObject, 'metadata'> | undefined;

/** What the object of an unanswered write says about it. */
export type Settlement =
  /** Nothing changes by it any more; the version, where there is one, is what a cache must show. */
  | { readonly settled: true; readonly resourceVersion?: string }
  | { readonly settled: false; readonly retryAfterMs: number };

/**
 * Decides whether the object can still change by a write, and what must have been seen of it.
 * @param found the object as the server has it now
 * @param nowMs epoch milliseconds
 */
export function judgeUnanswered(write: UnansweredWrite, found: Found, nowMs: number): Settlement {
  const leftMs = leftOf(UNDER_WAY_MS, write, nowMs);
  if (write.mayBeUnderWay && leftMs > 0 && mayStillBeStored(write, found))
    return { settled: false, retryAfterMs: leftMs };
  const resourceVersion = found?.metadata.resourceVersion;
  return { settled: true, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}

/** Not once it is stored, nor once something else has made its precondition fail. */
function mayStillBeStored({ replaces, verb }: UnansweredWrite, found: Found): boolean {
  if (verb === 'create') return found === undefined;
  if (found === undefined) return false;
  if (verb === 'delete' && found.metadata.deletionTimestamp !== undefined) return false;
  return replaces === undefined || replaces === found.metadata.resourceVersion;
}

/** A clock that was set back must not make anybody wait for longer. */
function leftOf(durationMs: number, { notedAtMs }: UnansweredWrite, nowMs: number): number {
  return Math.min(notedAtMs + durationMs - nowMs, durationMs);
}

export interface SettleDependencies {
  /** Asks the server, not a cache. */
  readonly client: Pick<ApiClient, 'get'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Asks the server what became of the writes that earlier activations of the key have had no answer to, and makes what they
 * left part of what the caches must show.
 * @returns how many there were
 * @throws WriteUnderWayError when one may still be stored, and what a read throws: nothing may be decided then
 */
export async function settleUnanswered(
  activation: Pick<Activation, 'unanswered' | 'settleUnanswered' | 'signal'>,
  { client, now }: SettleDependencies,
): Promise<number> {
  const { signal, unanswered } = activation;
  const limit = new ConcurrencyLimit(READS_AT_ONCE);
  const settleOne = async (write: UnansweredWrite): Promise<WriteUnderWayError | undefined> => {
    const found = await limit.run(() => read(client, write, now, signal));
    const settlement = judgeUnanswered(write, found, now());
    if (!settlement.settled) return underWay(write, settlement.retryAfterMs);
    activation.settleUnanswered(write, settlement.resourceVersion);
    return undefined;
  };
  const pending = (await Promise.all(unanswered.map(settleOne))).filter((error) => error !== undefined);
  if (pending.length > 0) throw pending.reduce((a, b) => (b.retryAfterMs > a.retryAfterMs ? b : a));
  return unanswered.length;
}

async function read(
  client: Pick<ApiClient, 'get'>,
  write: UnansweredWrite,
  now: () => number,
  signal: AbortSignal,
): Promise<Found> {
  try {
    return await client.get(write.type, write.ref, { metadataOnly: true, signal });
  } catch (error) {
    const mayDoWithout = write.verb === 'delete' || leftOf(FORBIDDEN_MS, write, now()) <= 0;
    if (isNotFound(error) || (isForbidden(error) && mayDoWithout)) return undefined;
    throw error;
  }
}

function underWay({ ref, type, verb }: UnansweredWrite, retryAfterMs: number): WriteUnderWayError {
  const message = `the ${verb} of ${type.resource} "${ref.name}" came to no answer and may still be stored`;
  return new WriteUnderWayError(message, retryAfterMs);
}
