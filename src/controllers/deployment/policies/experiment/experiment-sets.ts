import { createHash } from 'node:crypto';
import { ReplicaSet, apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { POD_TEMPLATE_HASH, parseTimeMs } from '../../../shared/index.js';
import { REVISION } from '../../kubernetes/annotations.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { withoutHash } from '../../kubernetes/pod-template.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { Experiment, ExperimentAt } from '../common/experiment.js';
import { PREFIX } from '../common/names.js';
import { stableBeside } from '../common/stable-beside.js';

/** A label of the ReplicaSets and pods of experiments: which one of them. */
export const EXPERIMENT = `${PREFIX}experiment`;
/** The label that says which version they run: `baseline`, `canary` or `revision-7`. */
export const EXPERIMENT_SIDE = `${PREFIX}experiment-side`;
/** The label with the name of the Deployment, for Services of experiments; a name of more than 63 characters is cut off. */
export const EXPERIMENT_OF = `${PREFIX}experiment-of`;
/** On such a ReplicaSet: when it is removed at the latest, RFC 3339. */
export const EXPERIMENT_UNTIL = `${PREFIX}experiment-until`;

/** The versions of an experiment. */
export type Side = 'baseline' | 'canary' | `revision-${string}`;

/** The ReplicaSet of one version, its Service, and the hash that its pods are labelled with. */
export interface SideName {
  readonly replicaSet: string;
  /** The Service that it has if the experiment has Services: the name of the ReplicaSet, if a Service may have it. */
  readonly service: string;
  /** The value of `pod-template-hash`. */
  readonly hash: string;
}

const HASH_CHARS = 10;
const LONGEST_LABEL = 63;
/** A name of a pod is that of its ReplicaSet and six characters more, at most 253. */
const LONGEST_DEPLOYMENT = 200;

/**
 * The names of an experiment's ReplicaSet and its Service. Each pass comes to the same one, so that a process which dies after it has made a
 * ReplicaSet leaves none that the next one does not know.
 * @param step counted from 1
 */
export function sideName(draft: RolloutDraft, latest: ReplicaSetDraft, step: number, side: Side): SideName {
  const { name, uid = '' } = draft.observed.metadata;
  const text = [uid, latest.annotations[REVISION] ?? '', step, side].join('/');
  const digest = createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS);
  const [hash, of] = [`x${digest}`, name.slice(0, LONGEST_DEPLOYMENT)];
  const end = `-experiment-${side}-${digest}`;
  return {
    replicaSet: `${of}${end}`,
    service: `${firstLabelOf(of, LONGEST_LABEL - end.length)}${end}`,
    hash,
  };
}

/** The name of a Service is one label of a domain name, and begins with a letter. */
function firstLabelOf(name: string, longest: number): string {
  const label = name.replaceAll('.', '-');
  return (/^[a-z]/.test(label) ? label : `x${label}`).slice(0, longest);
}

/** The labels by which an experiment's ReplicaSet and Service select the pods of one version, and no others. */
export function sideLabels(deployment: string, side: Side, { hash }: Pick<SideName, 'hash'>) {
  return { [EXPERIMENT]: hash, [EXPERIMENT_OF]: labelOf(deployment), [EXPERIMENT_SIDE]: side };
}

/** A value of a label has at most 63 characters, and ends with a letter or a digit. */
export function labelOf(name: string): string {
  let end = Math.min(name.length, LONGEST_LABEL);
  while (end > 0 && '-.'.includes(name.charAt(end - 1))) end--;
  return name.slice(0, end);
}

/** The versions that take part in an experiment, and how many pods of each. */
export function sidesOf({
  baseline,
  canary,
  revisions,
}: Experiment): readonly { side: Side; replicas: number; revision?: string }[] {
  const all = [
    { side: 'baseline', replicas: baseline },
    { side: 'canary', replicas: canary },
    ...revisions.map((each) => ({ ...each, side: `revision-${each.revision}` as const })),
  ] as const;
  return all.filter(({ replicas }) => replicas > 0);
}

/** Whether a ReplicaSet is one of an experiment of the Deployment with this UID. */
export function isExperimentOf(replicaSet: DeepReadonly<ReplicaSet>, uid: string | undefined): boolean {
  const { labels, ownerReferences = [] } = replicaSet.metadata;
  return labels?.[EXPERIMENT] !== undefined && ownerReferences.some((reference) => reference.uid === uid);
}

const HASH_OF_SIDE = /^x[0-9a-f]{10}$/;

/**
 * The name of the Deployment that an experiment's ReplicaSet was made for, if that Deployment was deleted with `--cascade=orphan`: the
 * ReplicaSet has no owner any more. Undefined for any other ReplicaSet, and if the name of the Deployment was cut off.
 */
export function abandonedBy({ metadata }: DeepReadonly<ReplicaSet>): string | undefined {
  const { annotations, labels, name, ownerReferences = [] } = metadata;
  const { [EXPERIMENT]: hash = '', [EXPERIMENT_SIDE]: side = '' } = labels ?? {};
  if (ownerReferences.length > 0 || !HASH_OF_SIDE.test(hash)) return undefined;
  const end = `-experiment-${side}-${hash.slice(1)}`;
  const of = name.slice(0, -end.length);
  const isWhole =
    name.endsWith(end) && of.length < LONGEST_DEPLOYMENT && labels?.[EXPERIMENT_OF] === labelOf(of);
  return isWhole && of !== '' && annotations?.[EXPERIMENT_UNTIL] !== undefined ? of : undefined;
}

/** When it is removed at the latest, epoch milliseconds. */
export function untilOf({ metadata }: DeepReadonly<ReplicaSet>): number {
  return parseTimeMs(metadata.annotations?.[EXPERIMENT_UNTIL]) ?? 0;
}

/** The pod template of a version; undefined if none of it is kept. @param revision of a further revision */
export function templateOfSide(
  draft: RolloutDraft,
  latest: ReplicaSetDraft,
  { revision, side }: { readonly side: Side; readonly revision?: string | undefined },
): DeepReadonly<PodTemplateSpec> | undefined {
  if (revision !== undefined)
    return draft.living.find((set) => set.annotations[REVISION] === revision)?.template;
  return side === 'canary' ? latest.template : stableBeside(draft, latest)?.template;
}

/**
 * The ReplicaSets of an experiment. The Deployment owns them, so that they go with it, and does not control them: it neither counts
 * nor adopts them. Their pods have no label of the Deployment's pods unless they serve, so that no Service selects them.
 */
export function experimentSets(
  draft: RolloutDraft,
  latest: ReplicaSetDraft,
  { experiment, step, untilMs }: ExperimentAt,
): readonly ReplicaSet[] {
  return sidesOf(experiment).flatMap(({ replicas, revision, side }) => {
    const template = templateOfSide(draft, latest, { side, revision });
    if (!template) return [];
    const { hash, replicaSet } = sideName(draft, latest, step, side);
    const own = sideLabels(draft.name, side, { hash });
    const { metadata, ...spec } = withoutHash(template);
    const labels = {
      ...(experiment.isServing && metadata?.labels),
      ...own,
      [POD_TEMPLATE_HASH]: hash,
    };
    const { apiVersion, kind, metadata: owner } = draft.observed;
    return [
      {
        apiVersion: apiVersionOf(ReplicaSet),
        kind: ReplicaSet.kind,
        metadata: {
          name: replicaSet,
          namespace: owner.namespace,
          labels: own,
          annotations: { [EXPERIMENT_UNTIL]: toRfc3339(untilMs) },
          ownerReferences: [
            { apiVersion, kind, name: owner.name, uid: owner.uid ?? '', blockOwnerDeletion: true },
          ],
        },
        spec: {
          replicas,
          selector: { matchLabels: { ...own, [POD_TEMPLATE_HASH]: hash } },
          template: { ...spec, metadata: { ...metadata, labels } },
        },
      } as ReplicaSet,
    ];
  });
}
