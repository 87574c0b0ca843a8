import { KEEP_OLD_OF_OWNER, parseKeepOld, renderKeepOld } from '../../../shared/index.js';
import type { KeepOldRule } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import type { Pass, Policy } from '../common/pass.js';
import type { PolicySettings } from '../common/settings.js';
import { NEEDS_ROLLING_UPDATE } from '../common/settings.js';
import type { Problem } from '../common/tell.js';
import { SESSIONS_NOT_DRAINED } from '../common/tell.js';

export interface KeepOldFields {
  /** How the pods of old versions drain. @default they are deleted, as in Kubernetes */
  readonly keepOld?: KeepOldRule;
}

export const KEEP_OLD_SETTINGS: PolicySettings<KeepOldFields> = {
  none: {},
  readers: {
    'keep-old': (text, fields) => {
      const rule = parseKeepOld(text);
      if (!rule)
        return 'is not until "CONDITION", at most DURATION, at most N, such as until "http :8080/sessions == 0", at most 24h, at most 3';
      fields.keepOld = rule;
      return undefined;
    },
  },
  combine: ({ keepOld }, { problemOf, shape }) =>
    keepOld && !shape.isRollingUpdate ? { problems: [problemOf('keep-old', NEEDS_ROLLING_UPDATE)] } : {},
  ifWrong: { 'keep-old': { keepOld: undefined } },
  keeps: [KEEP_OLD_OF_OWNER],
};

export interface DrainSurroundings {
  /** Whether a controller deletes the pods that drain. @default not known */
  readonly drainsSessions?: boolean;
}

/** The pods of old versions leave their Service, and stay until they are empty. */
export const KEEP_OLD: Policy<Pass<KeepOldFields> & DrainSurroundings> = {
  conclude: ({ draft, drainsSessions, isDeleted, policy }) => {
    if (!isDeleted) noteRule(draft, drainsSessions === false ? {} : policy);
  },
  trouble: ({ drainsSessions, policy }) =>
    policy.keepOld && drainsSessions === false ? NOT_DRAINED : undefined,
};

const NOT_DRAINED: Problem = {
  reason: SESSIONS_NOT_DRAINED,
  message: 'pods of old versions are deleted, and do not drain: start the controller with --drain-sessions',
};

/**
 * Notes the rule on all ReplicaSets but the one whose version the Deployment asks for: their controller lets the pods drain.
 * A Deployment that is made smaller loses pods of its own version as ever.
 */
function noteRule(draft: RolloutDraft, { keepOld }: KeepOldFields): void {
  const latest = latestOf(draft, draft.living);
  for (const set of draft.living) {
    const wanted = keepOld && set !== latest ? renderKeepOld(keepOld) : undefined;
    const { [KEEP_OLD_OF_OWNER]: noted, ...others } = set.annotations;
    if (noted === wanted) continue;
    draft.annotate(set, wanted === undefined ? others : { ...others, [KEEP_OLD_OF_OWNER]: wanted });
  }
}
