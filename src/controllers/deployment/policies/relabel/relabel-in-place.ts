import { counted } from '@rollkeeper/machinery/text';
import {
  POD_MARKS,
  readPodMarks,
  renderPodMarks,
  selectorKeys,
  shortenedTo,
  PINNED_CONFIG,
} from '../../../shared/index.js';
import type { PodMarks } from '../../../shared/index.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { Pass, PolicyDecision } from '../common/pass.js';
import { normal, tellEvent, warning } from '../common/tell.js';
import type { VersionRule } from '../common/version-rule.js';
import { giveAskedTemplate, keepRevision, servedInPlace } from '../in-place/in-place.js';
import type { RelabelFields } from './settings.js';
import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { RESTARTED_AT } from '../../kubernetes/annotations.js';
import { equalIgnoringHash, withoutHash } from '../../kubernetes/pod-template.js';
import { ADMISSION_DIGEST } from '../admission-restart/settings.js';
import { CONFIG_DIGEST } from '../config-restart/settings.js';

type RelabelPass = Pass<RelabelFields>;

/** The longest list of keys in an Event, characters. */
const LONGEST_LIST = 300;

/** Pods get other labels and annotations in place where nothing else has changed. */
export const RELABEL_IN_PLACE: VersionRule<RelabelPass> = {
  choose: (pass, { before }) => relabelInPlace(pass, before),
};

/**
 * If only labels and annotations of the template have changed, gives the new template to the ReplicaSet that serves. Its
 * controller gives them to the pods that run, as it does with labels of the version.
 * @param before the ReplicaSet of what is asked for, if there is one
 * @returns undefined where the version rolls out as usual
 */
function relabelInPlace(pass: RelabelPass, before: ReplicaSetDraft | undefined): PolicyDecision | undefined {
  const { draft, outcome, policy } = pass;
  const served = policy.relabelsInPlace ? servedInPlace(draft, before) : undefined;
  const changes = served && labelChanges(served.template, draft.spec.template);
  if (!served || !changes) return undefined;
  const obstacle = obstacleOf(pass, served, changes);
  if (obstacle !== undefined) {
    const message = `Pods of ${served.name} are replaced, because they cannot be relabeled in place: ${obstacle}`;
    if (!before) tellEvent(draft, outcome, warning('RelabelRefused', message));
    return undefined;
  }
  // The process may die before the next write: the way back is there first.
  if (!keepRevision(draft, served)) return { runs: served };
  giveAskedTemplate(draft, served);
  draft.annotate(served, { ...served.annotations, [POD_MARKS]: renderPodMarks(marksOf(served, changes)) });
  const keys = shortenedTo(LONGEST_LIST, [...changes.labels, ...changes.annotations].join(', '));
  const message = `Changing ${keys} of ${counted(served.replicas, 'pod')} of ${served.name} in place`;
  tellEvent(draft, outcome, normal('RelabeledInPlace', message));
  return {};
}

function obstacleOf(
  { draft }: RelabelPass,
  served: ReplicaSetDraft,
  { labels }: LabelChanges,
): string | undefined {
  const selecting = selectorKeys(served.selector);
  const selected = labels.find((key) => selecting.has(key));
  if (selected !== undefined) return `the selector looks at the label ${selected}`;
  const others = activeOf(draft.living).filter((set) => set !== served);
  return others.length === 0 ? undefined : 'a rollout is under way';
}

/** A key without a value has that of the template, or none, on pods that run as well. */
function marksOf(served: ReplicaSetDraft, { annotations, labels }: LabelChanges): PodMarks {
  const before = readPodMarks({
    metadata: { name: served.name, annotations: served.annotations },
  });
  const changed = (keys: readonly string[]): PodMarks['labels'] =>
    Object.fromEntries(keys.map((key) => [key, null]));
  const together = (one: PodMarks['labels'], other: PodMarks['labels']): PodMarks['labels'] => {
    const entries = Object.entries({ ...one, ...other });
    return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  };
  return {
    labels: together(changed(labels), before.labels),
    annotations: together(changed(annotations), before.annotations),
  };
}

type Template = DeepReadonly<PodTemplateSpec>;
type Values = Readonly<Record<string, string>>;

/** The keys whose values differ between two templates that are equal otherwise. */
interface LabelChanges {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

/** A change of one of these asks for other pods. */
const RESTARTS: ReadonlySet<string> = new Set([RESTARTED_AT, CONFIG_DIGEST, ADMISSION_DIGEST, PINNED_CONFIG]);

/** @returns undefined if pods have to be replaced: something else differs, or a restart is asked for */
function labelChanges(from: Template, to: Template): LabelChanges | undefined {
  if (!equalIgnoringHash(withoutValues(from), withoutValues(to))) return undefined;
  const [before, after] = [withoutHash(from).metadata, withoutHash(to).metadata];
  const labels = differing(before?.labels, after?.labels);
  const annotations = differing(before?.annotations, after?.annotations);
  if (labels.length + annotations.length === 0 || annotations.some((key) => RESTARTS.has(key)))
    return undefined;
  return { labels, annotations };
}

function withoutValues(template: Template): Template {
  const { annotations: _annotations, labels: _labels, ...metadata } = template.metadata ?? {};
  return { ...template, metadata };
}

function differing(before: Values = {}, after: Values = {}): readonly string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => before[key] !== after[key]).sort();
}
