import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../../kubernetes/annotations.js';
import { CONFIG_RECORD, FORMER_CONFIG_RECORD } from './settings.js';
import type { SourceName } from '../../../shared/index.js';
import { isShortText, readJson } from '../../../shared/index.js';

/** The digest of what is not there. */
export const MISSING = 'missing';

/** The content that a source was found to hold. */
export interface RecordedSource {
  readonly digest: string;
  /** Left out where it would make the annotation large. */
  readonly keys?: Readonly<Record<string, string>>;
}

/** A change that waits for more of them. */
export interface PendingChange {
  /** The digest of what has changed so far. */
  readonly digest: string;
  /** When it became that, and when the first change was seen; epoch milliseconds. */
  readonly atMs: number;
  readonly firstMs: number;
}

/** The configuration that the pods of a template were started for. */
export interface ConfigRecord {
  /** The hash of the template. */
  readonly template: string;
  readonly sources: Readonly<Record<SourceName, RecordedSource>>;
  readonly pending?: PendingChange;
}

/** Characters; without the keys it holds at most {@link MOST_SOURCES} names and digests. */
const LONGEST_WITH_KEYS = 32_768;
/** A Deployment with more is not restarted on any. */
export const MOST_SOURCES = 100;

/** `undefined` where there is none, or none that can be read: then the present becomes the record. */
export function readConfigRecord(annotations: Annotations): ConfigRecord | undefined {
  const read = readJson(annotations[CONFIG_RECORD] ?? annotations[FORMER_CONFIG_RECORD]);
  return isRecord(read) ? read : undefined;
}

/** The annotations with this record, or without any, in its one place. */
export function withConfigRecord(
  annotations: Annotations,
  record: ConfigRecord | undefined,
): Record<string, string> {
  const { [CONFIG_RECORD]: _record, [FORMER_CONFIG_RECORD]: former, ...others } = annotations;
  const isSetting = former !== undefined && !former.startsWith('{');
  return {
    ...others,
    ...(isSetting && { [FORMER_CONFIG_RECORD]: former }),
    ...(record && { [CONFIG_RECORD]: renderConfigRecord(record) }),
  };
}

/** The same text for the same record. */
export function renderConfigRecord({ pending, sources, template }: ConfigRecord): string {
  const sorted = Object.entries(sources).sort(([a], [b]) => (a < b ? -1 : 1));
  const render = (shown: readonly (readonly [string, RecordedSource])[]): string =>
    stringifyJson({
      template,
      sources: Object.fromEntries(shown.map(([source, found]) => [source, withoutSecretKeys(source, found)])),
      ...(pending && { pending }),
    });
  const whole = render(sorted);
  if (whole.length <= LONGEST_WITH_KEYS) return whole;
  return render(sorted.map(([source, { digest }]) => [source, { digest }]));
}

/** The annotation is read by users who may not know which keys a Secret has. */
function withoutSecretKeys(source: string, { digest, keys }: RecordedSource): RecordedSource {
  return keys === undefined || source.startsWith('secret/') ? { digest } : { digest, keys };
}

function isRecord(value: unknown): value is ConfigRecord {
  if (!isJsonObject(value)) return false;
  const { pending, sources, template } = value;
  if (!isShortText(template, LONGEST_DIGEST) || !isJsonObject(sources)) return false;
  return (
    Object.keys(sources).length <= 2 * MOST_SOURCES &&
    Object.values(sources).every(isSource) &&
    (pending === undefined || isPending(pending))
  );
}

function isSource(value: unknown): boolean {
  if (!isJsonObject(value) || !isShortText(value['digest'], LONGEST_DIGEST)) return false;
  const { keys } = value;
  if (keys === undefined) return true;
  return isJsonObject(keys) && Object.values(keys).every((digest) => isShortText(digest, LONGEST_DIGEST));
}

function isPending(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { atMs, digest, firstMs } = value;
  return isShortText(digest, LONGEST_DIGEST) && isMs(atMs) && isMs(firstMs);
}

/** Limit of epoch milliseconds that a Date can hold. */
function isMs(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 8.64e15;
}

/** Characters of a SHA-256 in hex. */
const LONGEST_DIGEST = 64;
