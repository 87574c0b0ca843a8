import type { DeposedHolder, LeaderElectionRecord } from './resource-lock.js';
import { isDeposed } from './resource-lock.js';

/** A Lease as one attempt finds it. */
interface LeaseFound {
  readonly record: LeaderElectionRecord;
  /** By our own clock; 0 or less once it has expired. */
  readonly remainingMs: number;
  /** The holder preferred by the coordinator. */
  readonly preferredHolder?: string | undefined;
  /** Whether a coordinator has ever managed it. */
  readonly isCoordinated: boolean;
}

interface LeaseAttemptView {
  readonly identity: string;
  /** Absent: there is no Lease. */
  readonly found?: LeaseFound | undefined;
  /** The one before it, if that was deleted while it was held, and its holder has not been seen since. */
  readonly heldWhenDeleted?: Pick<LeaseFound, 'record' | 'remainingMs'> | undefined;
  readonly deposing?: DeposedHolder | undefined;
  readonly epochAbove: number;
  readonly coordination?: {
    /** How long it has been free, as far as we saw. */
    readonly freeForMs: number;
    /** Another holder is preferred, and our leading work has ended since. */
    readonly isYielding: boolean;
  };
}

export type LeaseAttemptPlan =
  /** It is another's, or to be assigned by a coordinator. */
  | { readonly do: 'leave' }
  /** It is ours and will be another's: our leading work has to end first. */
  | { readonly do: 'yield' }
  /** Release it, so that the coordinator can assign it. */
  | { readonly do: 'vacate' }
  | { readonly do: 'hold'; readonly outcome: 'acquired' | 'renewed' };

/**
 * How long a free lease is left to a coordinator: its elections ask the candidates for up to 5 s. If no coordinator has
 * ever managed the lease, there may be none, although the API has candidates.
 */
const COORDINATED_PATIENCE_MS = 20_000;
const UNCOORDINATED_PATIENCE_MS = 6000;

/** The action of one attempt at a Lease: client-go's `tryAcquireOrRenew`, or its `tryCoordinatedRenew`. */
export function decideLeaseAttempt(view: LeaseAttemptView): LeaseAttemptPlan {
  if (mayStillLead(view)) return { do: 'leave' };
  return view.coordination ? decideCoordinated(view, view.coordination) : decideAlone(view);
}

/**
 * Whether the holder of a deleted Lease may still believe that it leads. Unlike client-go, which takes a missing Lease
 * at once: the holder goes on until its next renewal, and that renewal creates the Lease again.
 */
function mayStillLead({ deposing, heldWhenDeleted, identity }: LeaseAttemptView): boolean {
  if (!heldWhenDeleted || !isHeld(heldWhenDeleted)) return false;
  const { record } = heldWhenDeleted;
  return record.holderIdentity !== identity && !isDeposed(record, deposing);
}

function decideAlone({ deposing, epochAbove, found, identity }: LeaseAttemptView): LeaseAttemptPlan {
  if (!isHeld(found)) return { do: 'hold', outcome: 'acquired' };
  const { record } = found;
  if (record.holderIdentity !== identity)
    return isDeposed(record, deposing) ? { do: 'hold', outcome: 'acquired' } : { do: 'leave' };
  return { do: 'hold', outcome: record.leaderTransitions > epochAbove ? 'renewed' : 'acquired' };
}

/**
 * The coordinator assigns the lease, and its holder renews it until the coordinator prefers another. Unlike client-go,
 * a holder that steps down and a candidate that finds the holder dead release the lease instead of letting it expire;
 * and a holder whose lease has expired without another one being named begins a new term.
 */
function decideCoordinated(
  { deposing, epochAbove, found, identity }: LeaseAttemptView,
  { freeForMs, isYielding }: NonNullable<LeaseAttemptView['coordination']>,
): LeaseAttemptPlan {
  const { isCoordinated = false, preferredHolder = '', record } = found ?? {};
  if (record?.holderIdentity === identity) {
    if (preferredHolder !== '' && preferredHolder !== identity)
      return { do: isYielding ? 'vacate' : 'yield' };
    // The coordinator names a holder without an acquire time.
    const goesOn = isHeld(found) && record.acquireTime !== '' && record.leaderTransitions > epochAbove;
    return { do: 'hold', outcome: goesOn ? 'renewed' : 'acquired' };
  }
  if (isHeld(found)) return isDeposed(found.record, deposing) ? { do: 'vacate' } : { do: 'leave' };
  const patienceMs = isCoordinated ? COORDINATED_PATIENCE_MS : UNCOORDINATED_PATIENCE_MS;
  return freeForMs >= patienceMs ? { do: 'hold', outcome: 'acquired' } : { do: 'leave' };
}

function isHeld<T extends Pick<LeaseFound, 'record' | 'remainingMs'>>(found: T | undefined): found is T {
  return found !== undefined && found.record.holderIdentity !== '' && found.remainingMs > 0;
}
