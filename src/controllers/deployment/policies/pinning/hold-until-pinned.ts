import { rolloutSetsOf } from '../../kubernetes/new-replica-set.js';
import { setStatus } from '../../kubernetes/status.js';
import { annotationOf } from '../common/names.js';
import type { Pass } from '../common/pass.js';
import { WAITING_FOR_CONFIGURATION } from '../common/tell.js';
import { tellWait } from '../common/tell-wait.js';
import type { VersionRule } from '../common/version-rule.js';
import { obstacleOf, unpin, type PinnedPass } from '../config-restart/pinned-config.js';
import { servedMeanwhile } from '../failure/go-back.js';
import type { FailureFields } from '../failure/settings.js';

/** No version begins before it is known what it will read. */
export const HOLD_UNTIL_PINNED: VersionRule<PinnedPass & Pass<FailureFields>> = {
  prepare: (pass) => unpin(pass),
  choose: (pass, rollout) => {
    const why = rollout.before ? undefined : obstacleOf(pass);
    if (why === undefined) return undefined;
    const runs = servedMeanwhile(pass, rollout);
    const afterwards = (): void => tellUnpinned(pass, why);
    return { ...(runs ? { runs } : { ends: true }), afterwards, isWithheld: true };
  },
};

function tellUnpinned({ draft, outcome }: PinnedPass, why: string): void {
  if (draft.branch === undefined) setStatus(draft, rolloutSetsOf(draft));
  tellWait(draft, outcome, {
    reason: WAITING_FOR_CONFIGURATION,
    message: `The version has not begun, because its configuration cannot be pinned: ${why}`,
    unblockedBy: ['the ConfigMaps and Secrets that the pods need', `removing ${annotationOf('config')}`],
    endsByItself: false,
  });
}
