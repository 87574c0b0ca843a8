import { rolloutSetsOf } from '../../kubernetes/new-replica-set.js';
import { setStatus } from '../../kubernetes/status.js';
import { annotationOf } from '../common/names.js';
import type { Pass } from '../common/pass.js';
import {
  WAITING_FOR_CONFIGURATION,
  asClause,
  normal,
  observedProgress,
  tellEvent,
  tellProgress,
} from '../common/tell.js';
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
    const afterwards = (): void => tellWait(pass, why);
    return { ...(runs ? { runs } : { ends: true }), afterwards, isWithheld: true };
  },
};

function tellWait({ draft, outcome }: PinnedPass, why: string): void {
  const message = `The version has not begun, because its configuration cannot be pinned: ${why}`;
  if (draft.branch === undefined) setStatus(draft, rolloutSetsOf(draft));
  if (observedProgress(draft)?.message !== message)
    tellEvent(draft, outcome, normal(WAITING_FOR_CONFIGURATION, message));
  tellProgress(draft, { status: 'Unknown', reason: WAITING_FOR_CONFIGURATION, message });
  outcome.isWaiting = true;
  outcome.standing = {
    code: 'waits-for-configuration',
    sentence: asClause(message),
    unblockedBy: ['the ConfigMaps and Secrets that the pods need', `removing ${annotationOf('config')}`],
    endsByItself: false,
  };
}
