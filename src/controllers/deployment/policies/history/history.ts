import type { Pass, Policy } from '../common/pass.js';
import type { HistoryFields } from './settings.js';
import { noteSizeSteps } from './size-steps.js';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../../kubernetes/annotations.js';
import { CHANGE_CAUSE, RESTARTED_AT, REVISION } from '../../kubernetes/annotations.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { isRolloutComplete } from '../../kubernetes/progress.js';
import { PROGRESS_DEADLINE_EXCEEDED } from '../../kubernetes/reasons.js';
import { revisionOf } from '../../kubernetes/revision.js';
import { readFailures } from '../common/failed-templates.js';
import { OURS } from '../common/names.js';
import type { NameTrust } from '../common/requester.js';
import { shownName } from '../common/requester.js';
import { CHANGE, CHANGED_BY, REVISIONS } from './settings.js';
import { hashOf } from '../common/revisions.js';
import { changesOfTemplate, renderChange, withoutSecrets } from './template-changes.js';
import { isRolledOut, progressReason } from '../common/tell.js';
import { isShortText, isTime, readJson, shortenedTo } from '../../../shared/index.js';

/** Each revision keeps how it came about, and how it ended. */
export const HISTORY: Policy<Pass<HistoryFields>> = {
  prepare: ({ draft }) => forgetPassedCause(draft),
  conclude: ({ draft, isDeleted, outcome, policy }) => {
    if (policy.history && !isDeleted) noteHistory(draft);
    if (policy.notesSizes) noteSizeSteps(draft, outcome);
  },
};

/** The triggers of a revision. */
export const TRIGGERS = ['change', 'restart', 'undo', 'rollback', 'retry', 'configuration'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** A change of the template that says of itself what it is: kept on the Deployment by the write that makes it. */
export interface NotedChange {
  /** The hash of the template that it leads to. */
  readonly template: string;
  readonly trigger: Trigger;
  /** @default the user that the API names */
  readonly by?: string;
  /** For people. @default the change-cause */
  readonly why?: string;
}

/** How a revision came about, and what became of it. Times are RFC 3339. */
export interface RevisionEntry {
  readonly revision: string;
  readonly at: string;
  readonly trigger: Trigger;
  /** The name that the request gives. The author of the change sets it, so it is no proof. */
  readonly by?: string;
  /** The user that the API authenticated for the change, where it names users. */
  readonly user?: string;
  /** The field manager that wrote the template: `kubectl-set`, `argocd-controller`. */
  readonly tool?: string;
  readonly why?: string;
  /** The difference from the revision before, for people. */
  readonly what?: string;
  readonly ended?: RevisionEnd;
}

/**
 * The requester, for people: the name that a request gives is no proof, so the user whom the API knows is shown beside it. Without such
 * a user, it is only claimed.
 */
export function whoAsked(
  { by, trigger, user }: Pick<RevisionEntry, 'by' | 'trigger' | 'user'>,
  trust: NameTrust,
): string | undefined {
  if (by === OURS && OUR_TRIGGERS.has(trigger)) return OURS;
  const name = by !== undefined && user !== undefined && by !== user ? `${by} (${user})` : (by ?? user);
  return name === undefined ? undefined : shownName(name, user === undefined ? 'claimed' : trust);
}

export interface RevisionEnd {
  readonly as: 'complete' | 'failed';
  readonly at: string;
  /** The cause of a failure. */
  readonly why?: string;
}

/** A template that was rolled out again and again has an entry for each of its last rollouts. */
const MOST_KEPT = 3;
/** The longest text that a person wrote, or of a cause. Characters. */
const LONGEST_TEXT = 300;
/** Digits of an int64. */
const LONGEST_REVISION = 19;

/** The triggers of the controller itself. */
const OUR_TRIGGERS: ReadonlySet<Trigger> = new Set(['rollback', 'configuration']);

/** The entries on a ReplicaSet, newest first. What cannot be read is no entry: another hand wrote it. */
export function readRevisionEntries(annotations: Annotations | undefined): readonly RevisionEntry[] {
  const read = readJson(annotations?.[REVISIONS]);
  return Array.isArray(read) ? read.slice(0, MOST_KEPT).filter(isEntry) : [];
}

/** The annotations of a Deployment, with a note of what its new template is. */
export function withNotedChange(annotations: Annotations, change: NotedChange): Record<string, string> {
  const why = change.why === undefined ? undefined : shortenedTo(LONGEST_TEXT, change.why);
  return { ...annotations, [CHANGE]: stringifyJson({ ...change, ...(why !== undefined && { why }) }) };
}

/** The annotations of a Deployment whose template is written once more by the controller: what is known of the change stays. */
export function movedNote(
  annotations: Annotations,
  { from, to }: { readonly from: string; readonly to: string },
): Record<string, string> {
  const noted = readNotedChange(annotations);
  return noted?.template === from
    ? withNotedChange(annotations, { ...noted, template: to })
    : { ...annotations };
}

/**
 * Takes the cause of the change before away, once the template is another one: a reason that was given for an undo or a restart says
 * nothing of what comes after it. A cause that a person sets with `kubectl annotate` stays, as in Kubernetes.
 */
function forgetPassedCause(draft: RolloutDraft): void {
  const { [CHANGE_CAUSE]: cause, ...others } = draft.annotations;
  const noted = cause === undefined ? undefined : readNotedChange(draft.annotations);
  if (cause === undefined || noted?.why === undefined || noted.template === hashOf(draft)) return;
  const isOfNoted = [noted.why, `${CONFIGURATION_CAUSE}${noted.why}`].some(
    (why) => shortenedTo(LONGEST_TEXT, why) === shortenedTo(LONGEST_TEXT, cause),
  );
  if (isOfNoted) draft.replaceMetadata(others);
}

/** Before what changed, in the cause of a restart on configuration. */
export const CONFIGURATION_CAUSE = 'configuration changed: ';

/**
 * Notes on the new ReplicaSet the requester of its revision, with the write that gives it the number; and later, how the
 * rollout ended. A revision that was there when the history was turned on has no entry.
 */
function noteHistory(draft: RolloutDraft): void {
  const latest = latestOf(draft, draft.living);
  const revision = latest?.annotations[REVISION];
  if (!latest || revision === undefined) return;
  const entries = readRevisionEntries(latest.annotations);
  const [newest, ...older] = entries;
  const isNoted = newest?.revision === revision;
  if (!isNoted && revision !== latest.observed?.metadata.annotations?.[REVISION]) {
    const entry = beginningOf(draft, latest, revision);
    return write(draft, latest, [entry, ...entries].slice(0, MOST_KEPT));
  }
  if (!isNoted) return;
  const ended = endOf(draft, newest.ended?.as === 'complete');
  if (ended && ended.as !== newest.ended?.as) write(draft, latest, [{ ...newest, ended }, ...older]);
}

function beginningOf(draft: RolloutDraft, latest: ReplicaSetDraft, revision: string): RevisionEntry {
  const before = previousOf(draft, latest);
  const changes = before ? changesOfTemplate(before.template, latest.template) : [];
  const noted = readNotedChange(draft.annotations);
  const isNoted = noted?.template === hashOf(draft);
  const trigger = isNoted
    ? noted.trigger
    : guessTrigger(
        latest,
        changes.map(({ field }) => field),
      );
  const by = isNoted ? noted.by : undefined;
  const user = draft.annotations[CHANGED_BY];
  const why = isNoted && noted.why !== undefined ? noted.why : draft.annotations[CHANGE_CAUSE];
  const what = changes.map(withoutSecrets).map(renderChange).join('; ');
  return {
    revision,
    at: draft.now,
    trigger,
    ...(by !== undefined && { by: shortenedTo(LONGEST_TEXT, by) }),
    ...(user !== undefined && { user: shortenedTo(LONGEST_TEXT, user) }),
    ...(draft.templateManager !== undefined && by !== OURS && { tool: draft.templateManager }),
    ...(why !== undefined && why !== '' && { why: shortenedTo(LONGEST_TEXT, why) }),
    ...(what !== '' && { what: shortenedTo(LONGEST_TEXT, what) }),
  };
}

/** Guesses the trigger of a change that does not say what it is. */
function guessTrigger({ observed, template }: ReplicaSetDraft, fields: readonly string[]): Trigger {
  if (observed && template === (observed.spec.template ?? template)) return 'undo';
  return fields.length > 0 && fields.every((field) => field === `annotation ${RESTARTED_AT}`)
    ? 'restart'
    : 'change';
}

function previousOf(draft: RolloutDraft, latest: ReplicaSetDraft): ReplicaSetDraft | undefined {
  const others = draft.living.filter((set) => set !== latest);
  return others.toSorted((a, b) => (revisionOf(a) < revisionOf(b) ? 1 : -1))[0];
}

/** One that was complete can still fail in its bake time. What failed in spite of a rollback is left as it is, and may yet be complete. */
function endOf(draft: RolloutDraft, wasComplete: boolean): RevisionEnd | undefined {
  const current = hashOf(draft);
  const failure = readFailures(draft.annotations).find(({ template }) => template === current);
  const failed = failure && ({ as: 'failed', at: failure.at, why: failure.cause } as const);
  if (failure && !failure.stopped) return failed;
  const reason = progressReason(draft);
  const isSaid = reason === undefined || isRolledOut(reason);
  if (isSaid && isRolloutComplete(draft, draft.status)) return { as: 'complete', at: draft.now };
  if (wasComplete) return undefined;
  if (failed || reason !== PROGRESS_DEADLINE_EXCEEDED) return failed;
  return { as: 'failed', at: draft.now, why: 'its progress deadline passed' };
}

function write(draft: RolloutDraft, latest: ReplicaSetDraft, entries: readonly RevisionEntry[]): void {
  draft.annotate(latest, { ...latest.annotations, [REVISIONS]: stringifyJson(entries) });
}

function readNotedChange(annotations: Annotations): NotedChange | undefined {
  const read = readJson(annotations[CHANGE]);
  if (!isJsonObject(read)) return undefined;
  const { by, template, trigger, why } = read;
  const known = TRIGGERS.find((each) => each === trigger);
  if (typeof template !== 'string' || known === undefined) return undefined;
  return {
    template,
    trigger: known,
    ...(typeof by === 'string' && { by }),
    ...(typeof why === 'string' && { why }),
  };
}

function isEntry(value: unknown): value is RevisionEntry {
  if (!isJsonObject(value)) return false;
  const { at, by, ended, revision, tool, trigger, user, what, why } = value;
  const isText = (field: unknown): boolean => field === undefined || isShortText(field);
  return (
    isShortText(revision, LONGEST_REVISION) &&
    isTime(at) &&
    TRIGGERS.some((each) => each === trigger) &&
    [by, tool, user, what, why].every(isText) &&
    (ended === undefined || isEnd(ended))
  );
}

function isEnd(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { as, at, why } = value;
  const isKnown = as === 'complete' || as === 'failed';
  return isKnown && isTime(at) && (why === undefined || isShortText(why));
}
