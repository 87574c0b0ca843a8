import type { DeposedHolder, LeaderElectionRecord } from './resource-lock.js';
import { isDeposed } from './resource-lock.js';

/** A Lease in the API as one attempt finds it. */
export interface LeaseFound {
  readonly record: LeaderElectionRecord;
  /** By our own clock; not above 0 once it is over. */
  readonly remainingMs: number;
  /** Whom the coordinator would rather have. */
  readonly preferredHolder?: string | undefined;
  /** Whether a coordinator has had to do with it. */
  readonly isCoordinated: boolean;
}

export interface LeaseAttemptView {
  readonly identity: string;
  /** Absent: there is no Lease. */
  readonly found?: LeaseFound | undefined;
  readonly deposing?: DeposedHolder | undefined;
  readonly epochAbove: number;
  readonly coordination?: {
    /** For how long nobody has held it, as far as we saw. */
    readonly freeForMs: number;
    /** We have heard that another is to have it, and our leading has ended since. */
    readonly isYielding: boolean;
  };
}

export type LeaseAttemptPlan =
  /** It is another's, or a coordinator's to give. */
  | { readonly do: 'leave' }
  /** It is ours, and shall be another's: our leading has to end first. */
  | { readonly do: 'yield' }
  /** Free it, so that the coordinator gives it to somebody. */
  | { readonly do: 'vacate' }
  | { readonly do: 'hold'; readonly outcome: 'acquired' | 'renewed' };

/**
 * How long a lease that nobody holds is left to a coordinator: its elections ask the candidates for up to 5 s. Where none has
 * ever touched the lease, there may be none, although the API knows candidates.
 */
const COORDINATED_PATIENCE_MS = 20_000;
const UNCOORDINATED_PATIENCE_MS = 6000;

/** What one attempt at a Lease does: client-go's `tryAcquireOrRenew`, or its `tryCoordinatedRenew`. */
export function decideLeaseAttempt(view: LeaseAttemptView): LeaseAttemptPlan {
  return view.coordination ? decideCoordinated(view, view.coordination) : decideAlone(view);
}

function decideAlone({ deposing, epochAbove, found, identity }: LeaseAttemptView): LeaseAttemptPlan {
  if (!isHeld(found)) return { do: 'hold', outcome: 'acquired' };
  const { record } = found;
  if (record.holderIdentity !== identity)
    return isDeposed(record, deposing) ? { do: 'hold', outcome: 'acquired' } : { do: 'leave' };
  return { do: 'hold', outcome: record.leaderTransitions > epochAbove ? 'renewed' : 'acquired' };
}

/**
 * Nobody takes the lease: the coordinator names its holder, who renews it until the coordinator would rather have another.
 * Different from client-go, the one who gives way, and the one who finds the holder gone, free the lease instead of letting
 * it run out; and a holder whose lease has run out while nobody else was named begins a new term in it.
 */
function decideCoordinated(
  { deposing, epochAbove, found, identity }: LeaseAttemptView,
  { freeForMs, isYielding }: NonNullable<LeaseAttemptView['coordination']>,
): LeaseAttemptPlan {
  const { isCoordinated = false, preferredHolder = '', record } = found ?? {};
  if (record?.holderIdentity === identity) {
    if (preferredHolder !== '' && preferredHolder !== identity)
      return { do: isYielding ? 'vacate' : 'yield' };
    // The coordinator names a holder without saying since when.
    const goesOn = isHeld(found) && record.acquireTime !== '' && record.leaderTransitions > epochAbove;
    return { do: 'hold', outcome: goesOn ? 'renewed' : 'acquired' };
  }
  if (isHeld(found)) return isDeposed(found.record, deposing) ? { do: 'vacate' } : { do: 'leave' };
  const patienceMs = isCoordinated ? COORDINATED_PATIENCE_MS : UNCOORDINATED_PATIENCE_MS;
  return freeForMs >= patienceMs ? { do: 'hold', outcome: 'acquired' } : { do: 'leave' };
}

function isHeld(found: LeaseFound | undefined): found is LeaseFound {
  return found !== undefined && found.record.holderIdentity !== '' && found.remainingMs > 0;
}
