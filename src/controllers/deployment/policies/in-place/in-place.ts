import { CONFIG_COPIES, POD_TEMPLATE_HASH } from '../../../shared/index.js';
import { REVISION } from '../../kubernetes/annotations.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { equalIgnoringHash, withoutHash } from '../../kubernetes/pod-template.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { byCreation } from '../../kubernetes/replica-set-draft.js';
import { CHECK_RESULTS } from '../checks/settings.js';
import { COMPLETE_SINCE, GOOD_SINCE, RESIZING, TOLD } from '../common/names.js';
import { revisionInForce } from '../common/revisions.js';
import { REVISIONS, SIZES } from '../history/settings.js';

/** The annotations that a ReplicaSet keeps of the revision that it had. */
const OF_REVISION = [GOOD_SINCE, COMPLETE_SINCE, CHECK_RESULTS, TOLD, REVISIONS];

/**
 * The ReplicaSet whose pods might become those of the template that is asked for, without a restart.
 * @param before the ReplicaSet of what is asked for, if there is one
 */
export function servedInPlace(
  draft: RolloutDraft,
  before: ReplicaSetDraft | undefined,
): ReplicaSetDraft | undefined {
  const served = revisionInForce(draft);
  if (!served || served === before || served.replicas === 0) return undefined;
  // A way back: the oldest ReplicaSet of a template counts.
  const isFree =
    !before || (before.replicas === 0 && !before.status.replicas && byCreation(served, before) < 0);
  return isFree ? served : undefined;
}

/**
 * The revision that the ReplicaSet had is kept in one without pods, so that there is a way back to it. First of all: the process may die
 * before the next write.
 * @returns whether it is there
 */
export function keepRevision(draft: RolloutDraft, served: ReplicaSetDraft): boolean {
  if (draft.spec.revisionHistoryLimit === 0) return true;
  const isKept = draft.living.some(
    (set) => set !== served && equalIgnoringHash(set.template, served.template),
  );
  if (isKept) return true;
  const hash = `${served.labels[POD_TEMPLATE_HASH]}-${served.annotations[REVISION]}`;
  const labels = { ...served.labels, [POD_TEMPLATE_HASH]: hash };
  // The copies of its configuration belong to the ReplicaSet that goes on.
  const {
    [RESIZING]: _since,
    [SIZES]: _sizes,
    [CONFIG_COPIES]: _copies,
    ...annotations
  } = served.annotations;
  const { selector, template } = served;
  draft.add({
    ...served,
    name: `${served.name}-${served.annotations[REVISION]}`,
    observed: undefined,
    labels,
    selector: { ...selector, matchLabels: { ...selector.matchLabels, [POD_TEMPLATE_HASH]: hash } },
    template: {
      ...template,
      metadata: {
        ...template.metadata,
        labels: { ...template.metadata?.labels, [POD_TEMPLATE_HASH]: hash },
      },
    },
    annotations,
    status: {},
    replicas: 0,
  });
  return false;
}

/**
 * Gives the ReplicaSet what is asked for: from here on Kubernetes' controller finds a ReplicaSet of it, with all of its
 * pods. Its name, its selector and the label of the hash stay.
 */
export function giveAskedTemplate(draft: RolloutDraft, served: ReplicaSetDraft): void {
  const hash = served.template.metadata?.labels?.[POD_TEMPLATE_HASH];
  const template = withoutHash(draft.spec.template);
  const labels = { ...template.metadata?.labels, ...(hash !== undefined && { [POD_TEMPLATE_HASH]: hash }) };
  const annotations = { ...served.annotations };
  for (const name of OF_REVISION) delete annotations[name];
  draft.giveTemplate(served, { ...template, metadata: { ...template.metadata, labels } }, annotations);
}
