import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { annotationOf } from '../common/names.js';
import { lookAgainAfter } from '../common/outcome.js';
import { workloadOf } from '../../kubernetes/workload.js';
import type { Pass } from '../common/pass.js';
import type { VersionRule } from '../common/version-rule.js';
import { servedMeanwhile } from '../failure/go-back.js';
import type { FailureFields } from '../failure/settings.js';
import type { StartFields } from './settings.js';
import { CORRECT_ANNOTATION, ROLLOUT_HELD } from '../common/tell.js';
import { tellWait } from '../common/tell-wait.js';
import { isOpen, nextOpening } from './windows.js';

type StartPass = Pass<StartFields>;

/** No version begins outside of its windows, during a freeze, or while an annotation cannot be understood. */
export const HOLD_START: VersionRule<Pass<StartFields & FailureFields>> = {
  choose: (pass, rollout) => {
    const runs = servedMeanwhile(pass, rollout);
    const held = runs && holdOfStart(pass.policy, pass.draft.nowMs);
    return held && { runs, afterwards: () => tellHeld(pass, held), isWithheld: true };
  },
};

/** Why no rollout may begin now. */
type HoldOfStart =
  | { readonly by: 'unclear-policy'; readonly problems: string }
  | { readonly by: 'freeze'; readonly reason: string }
  | { readonly by: 'window'; readonly opensMs: number | undefined };

export function holdOfStart(
  { freeze, unclear, windows }: StartPass['policy'],
  nowMs: number,
): HoldOfStart | undefined {
  if (unclear !== undefined) return { by: 'unclear-policy', problems: unclear };
  if (freeze !== undefined) return { by: 'freeze', reason: freeze };
  if (windows.length === 0 || isOpen(windows, nowMs)) return undefined;
  return { by: 'window', opensMs: nextOpening(windows, nowMs) };
}

export function tellHeld({ draft, outcome }: StartPass, hold: HoldOfStart): void {
  const { message, unblockedBy } = wordsOf(hold, workloadOf(draft.observed).kind);
  tellWait(draft, outcome, {
    reason: ROLLOUT_HELD,
    message,
    unblockedBy: [unblockedBy],
    endsByItself: hold.by === 'window',
  });
  if (hold.by === 'window' && hold.opensMs !== undefined) lookAgainAfter(outcome, hold.opensMs - draft.nowMs);
}

function wordsOf(
  hold: HoldOfStart,
  kind: string,
): { readonly message: string; readonly unblockedBy: string } {
  if (hold.by === 'unclear-policy')
    return {
      message: `The rollout is held, because an annotation cannot be understood: ${hold.problems}`,
      unblockedBy: CORRECT_ANNOTATION,
    };
  if (hold.by === 'freeze') {
    const name = annotationOf('freeze');
    return {
      message: `The rollout is held by a freeze: ${hold.reason}`,
      unblockedBy: `removing ${name} from the ${kind} or its Namespace`,
    };
  }
  const opens = hold.opensMs === undefined ? 'a week from now' : toRfc3339(hold.opensMs);
  const message = `The rollout is held outside of its window; it begins at ${opens}`;
  return { message, unblockedBy: `the window, which opens at ${opens}` };
}
