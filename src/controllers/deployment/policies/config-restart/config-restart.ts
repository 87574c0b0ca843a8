import { createHash } from 'node:crypto';
import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { ownField, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { ConfigContents, Configuration } from './config-digests.js';
import { isIgnored, isMarked } from './config-digests.js';
import type { ConfigRecord, PendingChange, RecordedSource } from './config-record.js';
import {
  MISSING,
  MOST_SOURCES,
  readConfigRecord,
  renderConfigRecord,
  withConfigRecord,
} from './config-record.js';
import type { ConfigSelection } from './config-selection.js';
import { configReferences } from './config-sources.js';
import { CONFIGURATION_CAUSE, withNotedChange } from '../history/history.js';
import type { Pin } from './pin-config.js';
import { withPin } from './pin-config.js';
import { beginPinned, pinNow, pinnedTemplate } from './pinned-config.js';
import { CONFIG_DIGEST } from './settings.js';
import { OURS, RETRY, annotationOf } from '../common/names.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { HistoryFields } from '../history/settings.js';
import type { ConfigRestartFields } from './settings.js';
import type { Problem } from '../common/tell.js';
import type { Pass, Policy } from '../common/pass.js';
import type { VersionRule } from '../common/version-rule.js';
import { hashOf } from '../common/revisions.js';
import { CONFIGURATION_NOT_WATCHED, normal, tellEvent } from '../common/tell.js';
import type { SourceName } from '../../../shared/index.js';
import { parseSource, shortenedTo } from '../../../shared/index.js';
import { CHANGE_CAUSE } from '../../kubernetes/annotations.js';

/** A change waits this long for more of them. */
export const DEBOUNCE_MS = 5000;
/** Changes that do not end are rolled out after that. */
export const LONGEST_DEBOUNCE_MS = 5 * DEBOUNCE_MS;
/** The time within which starting caches show an object. */
const STARTING_MS = 2000;
const MOST_KEYS_TOLD = 5;
const LONGEST_CAUSE = 300;

export interface ConfigSurroundings {
  /** The content of ConfigMaps and Secrets. @default not known */
  readonly configuration?: Configuration;
}
export type ConfigPass = Pass<ConfigRestartFields & HistoryFields> & ConfigSurroundings;

/** A Deployment restarts when its configuration changes. */
export const CONFIG_RESTART: Policy<ConfigPass> = {
  conclude: ({ configuration, draft, policy }) => {
    const isForgotten = policy.unclear === undefined && !policy.restartOn;
    if (configuration === 'off' || (configuration && isForgotten)) forgetConfiguration(draft);
  },
  trouble: configurationTrouble,
};

/** A restart makes the template another version before any version is chosen. */
export const RESTART_ON_CHANGE: VersionRule<ConfigPass> = {
  prepare: (pass, before) => pass.draft.annotations[RETRY] === undefined && restartOnChange(pass, before),
};

/** Why a Deployment cannot be restarted on its configuration. */
function configurationTrouble({ configuration, draft, policy }: ConfigPass): Problem | undefined {
  const { restartOn: selection } = policy;
  if (!selection || policy.pinnedExcept || configuration === undefined) return undefined;
  const reason = CONFIGURATION_NOT_WATCHED;
  const name = annotationOf('restart-on');
  if (configuration === 'off') {
    const remedy = 'start the controller with --restart-on-config';
    return { reason, message: `${name} is given, and ConfigMaps and Secrets are not watched: ${remedy}` };
  }
  if (configuration.availability === 'refused')
    return { reason, message: `${name} is given, and the controller may not list ConfigMaps and Secrets` };
  const count = configReferences(draft.spec.template).size + selection.named.size;
  if (count <= MOST_SOURCES) return undefined;
  const message = `its template refers to ${count} ConfigMaps and Secrets, more than ${MOST_SOURCES}; it is restarted on none`;
  return { reason, message };
}

/** Nothing asks for the record any more; one that is asked for later begins with what is there then. */
function forgetConfiguration(draft: RolloutDraft): void {
  if (readConfigRecord(draft.annotations) === undefined) return;
  draft.replaceMetadata(withConfigRecord(draft.annotations, undefined));
}

/**
 * Compares what the sources hold with what the pods of the template were started for. A template whose pods have not been started, or
 * that is not the recorded one (a new version, a rollback, an undo), makes what is there now the record, before its rollout begins: its
 * pods start with that. A change that has lasted for {@link DEBOUNCE_MS} gives the template another digest, and so makes it another
 * template, which is rolled out like any other.
 *
 * @param latest the ReplicaSet of the template
 * @returns whether the pass ends here, because what follows builds on this write
 */
function restartOnChange(pass: ConfigPass, latest: ReplicaSetDraft | undefined): boolean {
  const { configuration, draft, outcome, policy } = pass;
  const { restartOn } = policy;
  if (!restartOn || configuration === undefined || configuration === 'off') return false;
  if (configuration.availability !== 'known') {
    lookAgainAfter(outcome, STARTING_MS);
    return false;
  }
  if (configurationTrouble(pass) !== undefined) return false;
  const recorded = readConfigRecord(draft.annotations);
  const template = hashOf(draft);
  const seen = look(draft, restartOn, configuration, recorded);
  const pin = pinNow(pass);
  const pinned = pinnedTemplate(pass, pin, latest);
  if (pinned) {
    beginPinned(pass, pinned, { latest, sources: foundOf(seen) });
    return true;
  }
  if (!latest || recorded?.template !== template) return begin(draft, { template, sources: foundOf(seen) });
  const compared = compare(recorded, seen);
  if (compared.changes.length === 0) {
    note(draft, { template, sources: compared.sources });
    return false;
  }
  const pending = pendingOf(compared.changes, recorded.pending, draft.nowMs);
  const dueMs = Math.min(pending.atMs + DEBOUNCE_MS, pending.firstMs + LONGEST_DEBOUNCE_MS);
  const isWhole = pin === undefined || pin.missing.length === 0;
  const isStartable =
    isWhole && seen.every(({ found, isRequired }) => !isRequired || found.digest !== MISSING);
  if (draft.nowMs < dueMs || !isStartable) {
    note(draft, { template, sources: compared.sources, pending });
    // A source that is missing wakes the Deployment when it comes.
    if (isStartable) lookAgainAfter(outcome, dueMs - draft.nowMs);
    return false;
  }
  if (!rollOut(draft, { seen, pin, changes: compared.changes })) return false;
  const what = compared.changes.map(({ words }) => words).join('; ');
  const cause = shortenedTo(LONGEST_CAUSE, `${CONFIGURATION_CAUSE}${what}`);
  const change = { template: hashOf(draft), trigger: 'configuration', by: OURS, why: what } as const;
  const annotations = policy.history ? withNotedChange(draft.annotations, change) : draft.annotations;
  draft.replaceMetadata({ ...annotations, [CHANGE_CAUSE]: cause }, draft.spec.template);
  tellEvent(
    draft,
    outcome,
    normal('ConfigurationChanged', shortenedTo(LONGEST_CAUSE, `Restarting its pods: ${what}`)),
  );
  return true;
}

/** A source as it is now. */
interface Seen {
  readonly source: SourceName;
  /** Pods do not start while it is missing. */
  readonly isRequired: boolean;
  readonly found: RecordedSource;
}

/** Sorted by name. */
function look(
  draft: RolloutDraft,
  { excluded, marked, named, referred }: ConfigSelection,
  contents: ConfigContents,
  recorded: ConfigRecord | undefined,
): readonly Seen[] {
  const { namespace = '' } = draft.observed.metadata;
  const references = configReferences(draft.spec.template);
  const isChosen = (source: SourceName): boolean => {
    if (named.has(source)) return true;
    const object = contents.find(namespace, source);
    if (excluded.has(source) || (object && isIgnored(object))) return false;
    if (referred.has(parseSource(source).kind)) return true;
    // The mark of one that is missing is missing as well.
    return marked && (object ? isMarked(object) : recorded?.sources[source] !== undefined);
  };
  return [...new Set([...references.keys(), ...named])]
    .filter(isChosen)
    .sort()
    .map((source) => {
      const content = contents.find(namespace, source)?.content;
      const found = content ? { digest: content.digest, keys: content.keys } : { digest: MISSING };
      return { source, isRequired: references.get(source)?.isRequired === true, found };
    });
}

function foundOf(seen: readonly Seen[]): ConfigRecord['sources'] {
  return Object.fromEntries(seen.map(({ found, source }) => [source, found]));
}

interface Change {
  readonly source: SourceName;
  readonly digest: string;
  /** For people. */
  readonly words: string;
}

interface Compared {
  readonly changes: readonly Change[];
  /** The sources that are on record from now on, until the changes are rolled out. */
  readonly sources: ConfigRecord['sources'];
}

/**
 * A source that has just been asked for is no change. Nor is a missing one that pods cannot start without: running pods keep
 * what they have, and new ones would not start. Pods that waited for it start with what has come.
 */
function compare(recorded: ConfigRecord, seen: readonly Seen[]): Compared {
  const changes: Change[] = [];
  const sources: Record<SourceName, RecordedSource> = {};
  for (const { found, isRequired, source } of seen) {
    const before = recorded.sources[source];
    const isSame = before === undefined || before.digest === found.digest;
    if (isSame || (isRequired && before.digest === MISSING)) sources[source] = found;
    else {
      sources[source] = before;
      if (!isRequired || found.digest !== MISSING)
        changes.push({ source, digest: found.digest, words: wordsFor(source, before, found) });
    }
  }
  return { changes, sources };
}

function pendingOf(
  changes: readonly Change[],
  before: PendingChange | undefined,
  nowMs: number,
): PendingChange {
  const digest = digestOf(changes.map((change) => `${change.source}=${change.digest}`));
  if (before?.digest === digest) return before;
  return { digest, atMs: nowMs, firstMs: before?.firstMs ?? nowMs };
}

/** Nothing else of the pass is carried out: the pods of a template must not start before it is known what they start with. */
function begin(draft: RolloutDraft, record: ConfigRecord): boolean {
  const { annotations, observed } = draft;
  const before = readConfigRecord(annotations);
  if (before && renderConfigRecord(before) === renderConfigRecord(record)) return false;
  note(draft, record);
  draft.setStatus(observed.status ?? {});
  return true;
}

function note(draft: RolloutDraft, record: ConfigRecord): void {
  const noted = withConfigRecord(draft.annotations, record);
  if (!sameJson(noted, draft.annotations)) draft.replaceMetadata(noted);
}

interface ChangedConfig {
  readonly seen: readonly Seen[];
  /** @default the pods read the originals */
  readonly pin?: Pin;
  readonly changes: readonly Change[];
}

/**
 * Makes the template another one.
 * @returns false if its pods read copies that have the content which has come back
 */
function rollOut(draft: RolloutDraft, { changes, pin, seen }: ChangedConfig): boolean {
  const { template } = draft.spec;
  const restarted =
    pin && changes.every(({ source }) => pin.sources.has(source))
      ? withPin(template, pin.digest)
      : withDigest(pin ? withPin(template, pin.digest) : template, digestOfSeen(seen));
  const record = { template: hashOf(draft, restarted), sources: foundOf(seen) };
  if (record.template === hashOf(draft)) {
    note(draft, record);
    return false;
  }
  draft.replaceMetadata(withConfigRecord(draft.annotations, record), restarted);
  draft.setStatus(draft.observed.status ?? {});
  return true;
}

function digestOfSeen(seen: readonly Seen[]): string {
  return digestOf(seen.map(({ found, source }) => `${source}=${found.digest}`));
}

type Template = DeepReadonly<PodTemplateSpec>;

/**
 * The same configuration gives the same template again. After a rollback the template may have that digest already, while its pods were
 * started for another one; then it is numbered.
 */
function withDigest(template: Template, digest: string): Template {
  const { annotations = {} } = template.metadata ?? {};
  const [before, count = '1'] = (annotations[CONFIG_DIGEST] ?? '').split('-');
  const next = before === digest ? `${digest}-${Number(count) + 1}` : digest;
  const metadata = { ...template.metadata, annotations: { ...annotations, [CONFIG_DIGEST]: next } };
  return { ...template, metadata };
}

function digestOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
}

/** `configmap/web: key a changed, key b added`: names alone, never a value. */
function wordsFor(source: SourceName, before: RecordedSource, now: RecordedSource): string {
  if (now.digest === MISSING) return `${source} is gone`;
  if (before.digest === MISSING) return `${source} has come`;
  // Users who may read the Deployment need not be allowed to know the keys of the Secret.
  if (parseSource(source).kind === 'secret' || !before.keys || !now.keys) return `${source} changed`;
  const [old, found] = [before.keys, now.keys];
  const names = [...new Set([...Object.keys(old), ...Object.keys(found)])].sort();
  const told = names.flatMap((name) => {
    const [was, is] = [ownField(old, name), ownField(found, name)];
    if (was === is) return [];
    return [`key ${name} ${was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'}`];
  });
  if (told.length === 0) return `${source} changed`;
  const more = told.length - MOST_KEYS_TOLD;
  return `${source}: ${told.slice(0, MOST_KEYS_TOLD).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
