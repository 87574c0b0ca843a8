import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { Kind } from '@rollkeeper/runtime';
import type { StrategyChange } from './apply-set.js';
import type { DecidedSet } from './decide-set.js';
import type { PlaceNode } from './set-nodes.js';
import type { ReadablePod, ReadableRevision, SetObject, SetView } from './set-view.js';

type ReadableSet = DeepReadonly<SetObject>;

/** The objects of a set. */
export interface SetParts {
  readonly set: ReadableSet;
  readonly revisions: readonly ReadableRevision[];
  readonly pods: readonly ReadablePod[];
  /** @default not known */
  readonly nodes?: readonly DeepReadonly<PlaceNode>[];
}

/** The steps by which a set follows its policies. */
export interface SetMove {
  /** @default nothing is changed */
  readonly strategy?: StrategyChange;
  /** The pods to delete, so that they are recreated. */
  readonly replace: readonly ReadablePod[];
  /** For the log; empty if nothing is done. */
  readonly summary: string;
}

/** How the sets of a kind are rolled out beside their own controller. */
export interface SetKind {
  readonly kind: Kind<SetObject>;
  /** Whether its pods are for one node each. @default they are for any node */
  readonly isPerNode?: boolean;
  /** The field by which a rollout is held. */
  readonly heldBy: readonly string[];
  /** Whether the set's controller has observed it, and its revision is known: before that nothing can be decided. */
  isObserved(parts: SetParts): boolean;
  /** Whether the revision of its template is known, although its controller has not observed it: by hand it may be held less than decided. */
  isRevisionKnown(parts: SetParts): boolean;
  view(parts: SetParts, nowMs: number): SetView;
  /** Why no setting can be followed, because of the update strategy. @default they can */
  strategyProblem?(set: ReadableSet): string | undefined;
  /** The value of the field that is moved, for the day on which no policy is asked for any more. JSON. */
  original(set: ReadableSet): string;
  /** The default of the API, for a set whose value before is not known any more. JSON. */
  readonly usual: string;
  move(set: ReadableSet, view: SetView, decided: DecidedSet): SetMove;
  /** The change that gives the set that value back. @param value as it was noted, untrusted */
  giveBack(set: ReadableSet, value: unknown): StrategyChange | undefined;
}
