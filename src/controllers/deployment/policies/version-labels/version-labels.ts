import { NO_MARKS, POD_MARKS, readPodMarks, renderPodMarks, selectorKeys } from '../../../shared/index.js';
import type { PodMarks } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { Pass, Policy } from '../common/pass.js';
import { LABEL_OF_SELECTOR, isRolledOut, progressReason, type Problem } from '../common/tell.js';
import type { VersionLabelFields } from './settings.js';

type Values = Readonly<Record<string, string>>;

/** The pods of a new version have other labels than those of the version before it, changed in place. */
export const VERSION_LABELS: Policy<Pass<VersionLabelFields>> = {
  conclude: (pass) => {
    if (!pass.isDeleted && !pass.draft.spec.paused) noteMarks(pass);
  },
  trouble: labelTrouble,
};

/** A label of the selector cannot be changed: the pod would be none of the Deployment's any more. */
function labelTrouble({ draft, policy }: Pass<VersionLabelFields>): Problem | undefined {
  const selecting = selectorKeys(draft.spec.selector);
  const keys = Object.keys({ ...policy.canaryLabels, ...policy.stableLabels });
  const wrong = keys.find((key) => selecting.has(key));
  if (wrong === undefined) return undefined;
  return {
    reason: LABEL_OF_SELECTOR,
    message: `canary-labels and stable-labels have ${wrong}, which stays as it is: the selector of the Deployment looks at it`,
  };
}

/** Notes the marks on the ReplicaSets that have pods: their controller puts them on the pods, new ones and live ones. */
function noteMarks({ draft, policy }: Pass<VersionLabelFields>): void {
  const canary = canaryOf(draft);
  for (const set of draft.living) {
    if (set.replicas === 0) continue;
    const { [POD_MARKS]: noted, ...others } = set.annotations;
    const before =
      noted === undefined
        ? NO_MARKS
        : readPodMarks({ metadata: { name: set.name, annotations: set.annotations } });
    const isCanary = set === canary;
    const marks: PodMarks = {
      labels: nextMarks(before.labels, isCanary ? policy.canaryLabels : policy.stableLabels),
      annotations: nextMarks(
        before.annotations,
        isCanary ? policy.canaryAnnotations : policy.stableAnnotations,
      ),
    };
    const wanted = isEmpty(marks) ? undefined : renderPodMarks(marks);
    if (noted === wanted) continue;
    draft.annotate(set, wanted === undefined ? others : { ...others, [POD_MARKS]: wanted });
  }
}

/** The new version, until its rollout is over. The first version of a Deployment replaces none, and is never a canary. */
function canaryOf(draft: RolloutDraft): ReplicaSetDraft | undefined {
  const latest = latestOf(draft, draft.living);
  if (!latest) return undefined;
  if (activeOf(draft.living).some((set) => set !== latest)) return latest;
  const isOver = isRolledOut(progressReason(draft));
  return isOver || draft.living.every((set) => set === latest) ? undefined : latest;
}

/** A key that is given no longer stays as null, so that pods lose it. */
function nextMarks(before: PodMarks['labels'], wanted: Values = {}): PodMarks['labels'] {
  const lost = Object.keys(before).map((key) => [key, null] as const);
  const entries = Object.entries({ ...Object.fromEntries(lost), ...wanted });
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function isEmpty({ annotations, labels }: PodMarks): boolean {
  return Object.keys(labels).length + Object.keys(annotations).length === 0;
}
