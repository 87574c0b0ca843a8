import { WAIT_REASONS } from '../policies/common/tell.js';

export type WaitReason = (typeof WAIT_REASONS)[number];

/** The phases in which a policy keeps a rollout from going on. */
export type WaitPhase =
  'waiting-in-step' | 'waiting-for-approval' | 'held' | 'waiting-for-check' | 'progressing';

/** The phase of a rollout whose condition Progressing has one of the policies' reasons. */
export const PHASE_OF_WAIT: Readonly<Record<WaitReason, WaitPhase>> = {
  WaitingInStep: 'waiting-in-step',
  WaitingForTermination: 'waiting-in-step',
  WaitingForApproval: 'waiting-for-approval',
  RolloutHeld: 'held',
  WaitingForBudget: 'held',
  WaitingForTurn: 'held',
  WaitingForCheck: 'waiting-for-check',
  ResizingPods: 'progressing',
  RolloutRetried: 'progressing',
};

export function isWaitReason(reason: string | undefined): reason is WaitReason {
  return WAIT_REASONS.some((each) => each === reason);
}
