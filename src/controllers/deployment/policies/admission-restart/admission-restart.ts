import { isTime, readJson, shortenedTo } from '../../../shared/index.js';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { CHANGE_CAUSE } from '../../kubernetes/annotations.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Pass, Policy } from '../common/pass.js';
import { OURS, RETRY } from '../common/names.js';
import { hashOf } from '../common/revisions.js';
import type { PolicySettings } from '../common/settings.js';
import type { Problem } from '../common/tell.js';
import { ADMISSION_NOT_WATCHED, isRolledOut, normal, observedProgress, tellEvent } from '../common/tell.js';
import type { VersionRule } from '../common/version-rule.js';
import { withNotedChange } from '../history/history.js';
import type { HistoryFields } from '../history/settings.js';
import type { DriftRecord } from './drift-record.js';
import { ADMISSION_DRIFT, driftSentence, readDrift } from './drift-record.js';
import { ADMISSION_DIGEST, ADMISSION_RESTARTED } from './settings.js';
import type { AdmissionRestartFields } from './settings.js';

export interface AdmissionSurroundings {
  /** Whether a controller compares pods with what admission gives new ones. @default not known */
  readonly watchesAdmission?: boolean;
}
type AdmissionPass = Pass<AdmissionRestartFields & HistoryFields> & AdmissionSurroundings;

/**
 * From one restart to the next if the same parts differ, and the time in which there are at most {@link MOST_RESTARTS} in all, so that a
 * webhook that never gives the same twice restarts nothing for ever.
 */
const DAY_MS = 86_400_000;
const MOST_RESTARTS = 3;
const LONGEST_CAUSE = 300;

export const ADMISSION_RESTART_SETTINGS: PolicySettings<AdmissionRestartFields> = {
  none: {},
  readers: {},
  keeps: [ADMISSION_DRIFT, ADMISSION_RESTARTED],
};

/** Says that a restart on admission is asked for, and none can come. */
export const ADMISSION_RESTART: Policy<AdmissionPass> = {
  trouble: ({ policy, watchesAdmission }) =>
    policy.restartOnAdmission && watchesAdmission === false ? NOT_WATCHED : undefined,
};

const NOT_WATCHED: Problem = {
  reason: ADMISSION_NOT_WATCHED,
  message:
    'restart-on has admission, and nothing compares pods with it: start the controller with --watch-admission',
};

/** A restart makes the template another version before any version is chosen. */
export const RESTART_ON_ADMISSION: VersionRule<AdmissionPass> = {
  prepare: (pass, before) => pass.draft.annotations[RETRY] === undefined && restartOnAdmission(pass, before),
};

/** @returns whether the pass ends here, because what follows builds on this write */
function restartOnAdmission(pass: AdmissionPass, latest: ReplicaSetDraft | undefined): boolean {
  const { draft, outcome, policy } = pass;
  const drift = policy.restartOnAdmission ? readDrift(draft.annotations) : undefined;
  if (!drift || !latest || drift.stale === 0 || drift.template !== hashOf(draft)) return false;
  // A rollout gives its pods what admission gives today.
  const isThrough =
    isRolledOut(observedProgress(draft)?.reason) && activeOf(draft.living).every((set) => set === latest);
  if (!isThrough) return false;
  const recent = recentRestarts(draft.annotations, draft.nowMs);
  const leftMs = restLeftMs(recent, drift, draft.nowMs);
  if (leftMs > 0) {
    lookAgainAfter(outcome, leftMs);
    return false;
  }
  const { template } = draft.spec;
  const { [ADMISSION_DIGEST]: digest, ...others } = template.metadata?.annotations ?? {};
  const annotations = { ...others, [ADMISSION_DIGEST]: nextDigest(digest, drift.digest) };
  const restarted = { ...template, metadata: { ...template.metadata, annotations } };
  const why = shortenedTo(LONGEST_CAUSE, driftSentence(drift));
  const change = { template: hashOf(draft, restarted), trigger: 'configuration', by: OURS, why } as const;
  const own = policy.history ? withNotedChange(draft.annotations, change) : draft.annotations;
  const { [ADMISSION_DRIFT]: _drift, ...kept } = own;
  const restarts = [...recent, { at: toRfc3339(draft.nowMs), parts: drift.parts }];
  draft.replaceMetadata(
    { ...kept, [ADMISSION_RESTARTED]: stringifyJson(restarts), [CHANGE_CAUSE]: why },
    restarted,
  );
  draft.setStatus(draft.observed.status ?? {});
  tellEvent(
    draft,
    outcome,
    normal('AdmissionChanged', shortenedTo(LONGEST_CAUSE, `Restarting its pods: ${why}`)),
  );
  return true;
}

/** The same digest again is numbered: its pods were started while a webhook was away, say. */
function nextDigest(current: string | undefined, digest: string): string {
  const [before, count = '1'] = (current ?? '').split('-');
  return before === digest ? `${digest}-${Number(count) + 1}` : digest;
}

interface Restart {
  /** RFC 3339. */
  readonly at: string;
  readonly parts: unknown;
}

/** The last restarts of a day, oldest first. */
function recentRestarts(annotations: Annotations, nowMs: number): readonly Restart[] {
  const read = readJson(annotations[ADMISSION_RESTARTED]);
  const all: readonly unknown[] = Array.isArray(read) ? read : [];
  return all
    .slice(-MOST_RESTARTS)
    .flatMap((each) =>
      isJsonObject(each) && isTime(each['at']) ? [{ at: each['at'], parts: each['parts'] }] : [],
    )
    .filter(({ at }) => Date.parse(at) + DAY_MS > nowMs);
}

function restLeftMs(recent: readonly Restart[], { parts }: DriftRecord, nowMs: number): number {
  const text = stringifyJson(parts);
  const isFull = recent.length >= MOST_RESTARTS;
  const barring = recent.filter(
    (each, index) => (isFull && index === 0) || stringifyJson(each.parts) === text,
  );
  return Math.max(0, ...barring.map(({ at }) => Math.min(Date.parse(at) + DAY_MS - nowMs, DAY_MS)));
}
