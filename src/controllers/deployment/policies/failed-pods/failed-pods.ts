import { FAILED_PODS_OF_OWNER, parseFailedPods, renderFailedPods } from '../../../shared/index.js';
import type { FailedPodsRule } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { Pass, Policy } from '../common/pass.js';
import type { PolicySettings } from '../common/settings.js';

export interface FailedPodsFields {
  /** The limit of failed pods that stay, for each ReplicaSet. @default all of them, as in Kubernetes */
  readonly failedPods?: FailedPodsRule;
}

export const FAILED_PODS_SETTINGS: PolicySettings<FailedPodsFields> = {
  none: {},
  readers: {
    'failed-pods': (text, fields) => {
      const rule = parseFailedPods(text);
      if (!rule) return 'is not keep N or keep N, DURATION, such as keep 3, 1h';
      fields.failedPods = rule;
      return undefined;
    },
  },
  keeps: [FAILED_PODS_OF_OWNER],
};

/** The newest failed pods of each ReplicaSet stay, for a time. */
export const FAILED_PODS_POLICY: Policy<Pass<FailedPodsFields>> = {
  conclude: ({ draft, isDeleted, policy }) => {
    if (!isDeleted) noteRule(draft, policy);
  },
};

/** Notes the rule on all ReplicaSets: their controller deletes the pods, and one without a size may have failed pods as well. */
function noteRule(draft: RolloutDraft, { failedPods }: FailedPodsFields): void {
  const wanted = failedPods && renderFailedPods(failedPods);
  for (const set of draft.living) {
    const { [FAILED_PODS_OF_OWNER]: noted, ...others } = set.annotations;
    if (noted === wanted) continue;
    draft.annotate(set, wanted === undefined ? others : { ...others, [FAILED_PODS_OF_OWNER]: wanted });
  }
}
