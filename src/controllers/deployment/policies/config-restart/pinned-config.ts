import type { SourceName } from '../../../shared/index.js';
import {
  CONFIG_COPIES,
  READS_COPIES,
  parseSource,
  pinnedConfigOf,
  readConfigCopies,
  renderConfigCopies,
  shortenedTo,
} from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { CHANGE_CAUSE } from '../../kubernetes/annotations.js';
import { OURS, annotationOf } from '../common/names.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Pass, Policy } from '../common/pass.js';
import { hashOf } from '../common/revisions.js';
import { CONFIGURATION_NOT_PINNED, normal, tellEvent, type Problem } from '../common/tell.js';
import { movedNote, withNotedChange } from '../history/history.js';
import type { HistoryFields } from '../history/settings.js';
import type { ConfigContents, Configuration } from './config-digests.js';
import { MOST_SOURCES, withConfigRecord, type ConfigRecord } from './config-record.js';
import { configReferences } from './config-sources.js';
import { copiesOf, copiesToMake, pinOf, unpinnedParts, withPin, withoutPin, type Pin } from './pin-config.js';
import type { ConfigRestartFields } from './settings.js';

export interface PinnedPass extends Pass<ConfigRestartFields & HistoryFields> {
  readonly configuration?: Configuration;
}

/** The time within which starting caches show an object. */
const STARTING_MS = 2000;
/** The longest list of names in an Event, characters. */
const LONGEST_LIST = 700;

/** Each version reads copies of the ConfigMaps and Secrets that it was rolled out with. */
export const PINNED_CONFIG_POLICY: Policy<PinnedPass> = {
  concerns: ({ draft }) => pinnedConfigOf(draft.spec.template) !== undefined,
  conclude: (pass) => {
    if (!pass.isDeleted) for (const set of pass.draft.living) keepCopies(pass, set);
  },
  trouble: pinningTrouble,
};

/** The configuration that the template would be pinned to now; undefined if it is not to be pinned, or this cannot be known. */
export function pinNow(pass: PinnedPass, template = pass.draft.spec.template): Pin | undefined {
  const contents = contentsOf(pass);
  const { pinnedExcept } = pass.policy;
  return (
    contents && pinnedExcept && pinOf(template, pinnedExcept, { contents, namespace: namespaceOf(pass) })
  );
}

/**
 * Pins the template before its version begins, or when the policy is turned on.
 * @param latest the ReplicaSet of the template
 * @returns the pinned template, if it is another one
 */
export function pinnedTemplate(
  { draft }: PinnedPass,
  pin: Pin | undefined,
  latest: ReplicaSetDraft | undefined,
): RolloutDraft['spec']['template'] | undefined {
  if (!pin || pin.missing.length > 0) return undefined;
  const { template } = draft.spec;
  const before = pinnedConfigOf(template);
  // Its pods have been started with that: a rollback, or the version that runs.
  if (latest && before !== undefined && readConfigCopies(latest.annotations) !== undefined) return undefined;
  return before === pin.digest ? undefined : withPin(template, pin.digest);
}

/** Writes the pinned template of a version that has not begun. What is known of the change stays known. */
export function beginPinned(
  pass: PinnedPass,
  template: RolloutDraft['spec']['template'],
  { latest, sources }: { latest: ReplicaSetDraft | undefined; sources: ConfigRecord['sources'] },
): void {
  const { draft } = pass;
  const record = { template: hashOf(draft, template), sources };
  const moved = movedNote(draft.annotations, { from: hashOf(draft), to: record.template });
  const isTurnedOn = latest !== undefined && pinnedConfigOf(latest.template) === undefined;
  const annotations = isTurnedOn ? withCause(pass, record.template, PINNED_CAUSE) : moved;
  draft.replaceMetadata(withConfigRecord(annotations, record), template);
  draft.setStatus(draft.observed.status ?? {});
  if (!isTurnedOn) return;
  const message = `${annotationOf('config')} is pinned: the pods are replaced by pods that read copies of their configuration`;
  tellEvent(draft, pass.outcome, normal('ConfigurationPinned', message));
}

const PINNED_CAUSE = 'configuration pinned';
const UNPINNED_CAUSE = 'configuration no longer pinned';

function withCause({ draft, policy }: PinnedPass, template: string, why: string): Record<string, string> {
  const change = { template, trigger: 'configuration', by: OURS, why } as const;
  const annotations = policy.history ? withNotedChange(draft.annotations, change) : draft.annotations;
  return { ...annotations, [CHANGE_CAUSE]: why };
}

/** The policy is no longer asked for: the next version reads the originals. */
export function unpin(pass: PinnedPass): boolean {
  const { draft, outcome, policy } = pass;
  const { template } = draft.spec;
  if (policy.pinnedExcept || policy.unclear !== undefined || pinnedConfigOf(template) === undefined)
    return false;
  const unpinned = withoutPin(template);
  draft.replaceMetadata(withCause(pass, hashOf(draft, unpinned), UNPINNED_CAUSE), unpinned);
  draft.setStatus(draft.observed.status ?? {});
  const message = `${annotationOf('config')} is no longer pinned: the pods are replaced by pods that read their ConfigMaps and Secrets themselves`;
  tellEvent(draft, outcome, normal('ConfigurationUnpinned', message));
  return true;
}

/** Notes the copies on a ReplicaSet that waits for them, and makes those that do not exist. */
function keepCopies(pass: PinnedPass, set: ReplicaSetDraft): void {
  const { draft, outcome, policy, writes } = pass;
  const contents = contentsOf(pass);
  const pinned = pinnedConfigOf(set.template);
  if (!contents || pinned === undefined || set.replicas === 0 || !set.observed?.metadata.uid) return;
  const noted = readConfigCopies(set.annotations);
  const where = { contents, namespace: namespaceOf(pass) };
  const pin = noted ? undefined : pinOf(set.template, policy.pinnedExcept ?? new Set(), where);
  // Changed since: the version that is asked for becomes another one, as soon as that is known.
  if (pin && (pin.digest !== pinned || pin.missing.length > 0)) return lookAgainAfter(outcome, STARTING_MS);
  const copies = noted ?? (pin ? copiesOf(set, pin) : {});
  writes.copies.push(...copiesToMake(set, copies, where).orders);
  if (!pin) return;
  draft.annotate(set, { ...set.annotations, [CONFIG_COPIES]: renderConfigCopies(copies) });
  const left = unpinnedParts(set.template, pin);
  const others = left.length === 0 ? '' : `; not pinned: ${shortenedTo(LONGEST_LIST, left.join(', '))}`;
  const names = shortenedTo(LONGEST_LIST, [...pin.sources.keys()].join(', ') || 'nothing');
  tellEvent(
    draft,
    outcome,
    normal('ConfigurationPinned', `Pods of ${set.name} read copies of ${names}${others}`),
  );
}

/** Why the configuration of a version that has not begun cannot be pinned yet. */
export function obstacleOf(pass: PinnedPass): string | undefined {
  const { configuration, outcome, policy } = pass;
  if (!policy.pinnedExcept || configuration === undefined) return undefined;
  const problem = pinningProblem(pass);
  if (problem) return problem.message;
  if (configuration !== 'off' && configuration.availability !== 'known') {
    lookAgainAfter(outcome, STARTING_MS);
    return 'ConfigMaps and Secrets are being listed';
  }
  const missing = pinNow(pass)?.missing ?? [];
  return missing.length === 0 ? undefined : `pods need ${missing.join(', ')}, which does not exist`;
}

function pinningTrouble(pass: PinnedPass): Problem | undefined {
  const { draft, policy } = pass;
  if (!policy.pinnedExcept) return undefined;
  return pinningProblem(pass) ?? lostCopies(pass) ?? readsOriginals(pass, latestOf(draft, draft.living));
}

function pinningProblem({ configuration, draft }: PinnedPass): Problem | undefined {
  if (configuration === undefined) return undefined;
  const reason = CONFIGURATION_NOT_PINNED;
  const name = annotationOf('config');
  if (configuration === 'off' || !configuration.mayCopy)
    return {
      reason,
      message: `${name} is pinned, and the controller makes no copies: start it with --pin-config`,
    };
  if (configuration.availability === 'refused')
    return { reason, message: `${name} is pinned, and the controller may not list ConfigMaps and Secrets` };
  const { size } = configReferences(draft.spec.template);
  if (size <= MOST_SOURCES) return undefined;
  const message = `its template refers to ${size} ConfigMaps and Secrets, more than the ${MOST_SOURCES} that can be pinned`;
  return { reason, message };
}

/** Copies that were deleted, while the content that they had exists nowhere else. */
function lostCopies(pass: PinnedPass): Problem | undefined {
  const contents = contentsOf(pass);
  if (!contents) return undefined;
  const where = { contents, namespace: namespaceOf(pass) };
  for (const set of pass.draft.living) {
    const copies = set.replicas === 0 ? undefined : readConfigCopies(set.annotations);
    const lost = copies ? copiesToMake(set, copies, where).lost : [];
    if (lost.length === 0 || pass.writes.copies.some(({ owner }) => owner.name === set.name)) continue;
    const kinds = lost.map(
      (source: SourceName) => `${parseSource(source).kind} ${copies?.[source]?.name ?? ''}`,
    );
    const message = `pods of ${set.name} that start again wait: ${kinds.join(', ')} was deleted, and its content is not that of the original any more`;
    return { reason: CONFIGURATION_NOT_PINNED, message };
  }
  return undefined;
}

/** Another ReplicaSet controller starts the pods, and knows nothing of copies. */
function readsOriginals({ podsOf }: PinnedPass, latest: ReplicaSetDraft | undefined): Problem | undefined {
  if (!latest || pinnedConfigOf(latest.template) === undefined) return undefined;
  const pod = podsOf(latest).find(({ metadata }) => metadata.annotations?.[READS_COPIES] === undefined);
  if (!pod) return undefined;
  const message = `pod ${pod.metadata.name} reads the originals: another controller than Rollkeeper's made it for its ReplicaSet`;
  return { reason: CONFIGURATION_NOT_PINNED, message };
}

function contentsOf({ configuration }: PinnedPass): ConfigContents | undefined {
  if (configuration === undefined || configuration === 'off' || !configuration.mayCopy) return undefined;
  return configuration.availability === 'known' ? configuration : undefined;
}

function namespaceOf({ draft }: PinnedPass): string {
  return draft.observed.metadata.namespace ?? '';
}
