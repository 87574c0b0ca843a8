import type { Activation, UnansweredWrite } from '../activation/index.js';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, isNotFound } from '@rollkeeper/client/api-client';
import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import { WriteUnderWayError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';

/**
 * How long a server may still execute a write after its client has disconnected, milliseconds. A server under threefold
 * overload took 650. Counted from when the write was recorded, by the clock of the store that has it.
 */
const UNDER_WAY_MS = 1000;

/**
 * How long a forbidden read is retried, milliseconds: authorizers deny every request for a moment after the server
 * starts. After that, we may be allowed to write but not to read, and proceed without. A controller that may delete but
 * not read, such as the namespace controller, has listed the objects and will list again: no single deletion matters.
 */
const FORBIDDEN_MS = 30_000;

/** Concurrent reads for one key. */
const READS_AT_ONCE = 8;

type Found = Pick<KubernetesObject, 'metadata'> | undefined;

/** The evidence that an object gives of an unanswered write. */
export type Settlement =
  /** The write can have no further effect; the version, if any, is what a cache must show. */
  | { readonly settled: true; readonly resourceVersion?: string }
  | { readonly settled: false; readonly retryAfterMs: number };

/**
 * Decides whether the write can still change the object, and which version must have been seen.
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

/** A write that was stored, or whose precondition fails because of another write, cannot be stored any more. */
function mayStillBeStored({ replaces, verb }: UnansweredWrite, found: Found): boolean {
  if (verb === 'create') return found === undefined;
  if (found === undefined) return false;
  if (verb === 'delete' && found.metadata.deletionTimestamp !== undefined) return false;
  return replaces === undefined || replaces === found.metadata.resourceVersion;
}

/** If the store does not know how old a write is, the clocks of the replicas tell, of which one may be wrong. */
function leftOf(durationMs: number, { ageMs, notedAtMs }: UnansweredWrite, nowMs: number): number {
  return durationMs - (ageMs ?? nowMs - notedAtMs);
}

/**
 * The write, noted no later than now. A clock that was ahead when it was noted must not prolong the wait: it would be as
 * long as the clock was ahead.
 */
function notedByNow(write: UnansweredWrite, nowMs: number): UnansweredWrite {
  return write.ageMs !== undefined || write.notedAtMs <= nowMs ? write : { ...write, notedAtMs: nowMs };
}

export interface SettleDependencies {
  /** Reads from the server, not a cache. */
  readonly client: Pick<ApiClient, 'get'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Asks the server for the outcome of unanswered writes of the key's earlier activations, and adds the resulting
 * versions to those that the caches must show.
 * @returns how many there were
 * @throws WriteUnderWayError if one may still be stored, and errors of the reads: no decision is allowed then
 */
export async function settleUnanswered(
  activation: Pick<Activation, 'noteUnanswered' | 'settleUnanswered' | 'signal' | 'unanswered'>,
  { client, now }: SettleDependencies,
): Promise<number> {
  const { signal, unanswered } = activation;
  const limit = new ConcurrencyLimit(READS_AT_ONCE);
  const settleOne = async (stored: UnansweredWrite): Promise<WriteUnderWayError | undefined> => {
    const write = notedByNow(stored, now());
    let settlement: Settlement | undefined;
    try {
      const found = await limit.run(() => read(client, write, now, signal));
      settlement = judgeUnanswered(write, found, now());
      return settlement.settled ? undefined : underWay(write, settlement.retryAfterMs);
    } finally {
      if (settlement?.settled) activation.settleUnanswered(stored, settlement.resourceVersion);
      else if (write !== stored) renote(activation, stored, write);
    }
  };
  const pending = (await Promise.all(unanswered.map(settleOne))).filter((error) => error !== undefined);
  if (pending.length > 0) throw pending.reduce((a, b) => (b.retryAfterMs > a.retryAfterMs ? b : a));
  return unanswered.length;
}

/** Later activations count from the new time. */
function renote(
  activation: Pick<Activation, 'noteUnanswered' | 'settleUnanswered'>,
  stored: UnansweredWrite,
  write: UnansweredWrite,
): void {
  activation.settleUnanswered(stored);
  activation.noteUnanswered(write);
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
