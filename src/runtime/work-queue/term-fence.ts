import { SupersededError } from '@rollkeeper/machinery/errors';
import type { LeaderTerm } from './work-queue.js';

/** Whether a term may begin in a place where `current` has begun: not after a newer one, nor after another holder's of its epoch. */
export function mayBegin(current: LeaderTerm | undefined, { epoch, holder }: LeaderTerm): boolean {
  if (!current) return true;
  return current.epoch < epoch || (current.epoch === epoch && current.holder === holder);
}

/** Whether the effects of `term` count in a place: only while it is the one that began there last. */
export function isCurrent(current: LeaderTerm | undefined, { epoch, holder }: LeaderTerm): boolean {
  return current?.epoch === epoch && current.holder === holder;
}

/** The refusal of a term in a queue where `current` has begun, or whose term was lost. */
export function refusedBy(current: LeaderTerm | undefined): SupersededError {
  const epoch = current?.epoch ?? 0;
  return new SupersededError(`refused: in this queue the term of epoch ${epoch} has begun`, { epoch });
}
