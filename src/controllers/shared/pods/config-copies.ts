import type { DeepReadonly, Pod, PodTemplateSpec, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, isJsonObject, ownField, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isShortText, readJson } from '../read-json.js';
import type { SourceName } from './config-references.js';
import { SOURCE_KINDS, configReferencesOf } from './config-references.js';

/**
 * On a pod template: the digest of the configuration whose copies its pods read. It is part of the template, so that another
 * configuration is another version.
 */
export const PINNED_CONFIG = 'rollkeeper.dev/pinned-config';

/**
 * On a ReplicaSet: the copies that its pods read in place of the ConfigMaps and Secrets that its template names. The
 * template itself keeps the names of the originals, so that it equals that of its Deployment.
 */
export const CONFIG_COPIES = 'rollkeeper.dev/config-copies';

/** On a pod: the ReplicaSet whose copies it reads. */
export const READS_COPIES = 'rollkeeper.dev/reads-copies-of';

/** A copy of a ConfigMap or Secret. */
export interface ConfigCopyNote {
  /** The name of an object of the same kind as its source. */
  readonly name: string;
  /** The digest of its content; undefined: the source did not exist, and the copy does not exist either. */
  readonly digest?: string;
}
export type ConfigCopies = Readonly<Record<SourceName, ConfigCopyNote>>;

/** Limit of an object's name, and of a digest, characters. */
const LONGEST_NAME = 253;

export function renderConfigCopies(copies: ConfigCopies): string {
  const sorted = Object.entries(copies).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return stringifyJson(Object.fromEntries(sorted));
}

/** The copies noted on a ReplicaSet. @returns undefined if none have been made, or the note cannot be read */
export function readConfigCopies(
  annotations: Readonly<Record<string, string>> | undefined,
): ConfigCopies | undefined {
  const read = readJson(annotations?.[CONFIG_COPIES]);
  if (!isJsonObject(read)) return undefined;
  const entries = Object.entries(read);
  return entries.every(([source, note]) => isSource(source) && isNote(note))
    ? (read as ConfigCopies)
    : undefined;
}

/** The digest of the configuration that a template is pinned to. */
export function pinnedConfigOf(template: DeepReadonly<PodTemplateSpec> | undefined): string | undefined {
  return template?.metadata?.annotations?.[PINNED_CONFIG];
}

/**
 * Whether a ReplicaSet of a Deployment waits for the copies of its configuration: a pod that started earlier would read
 * the originals, which may change.
 */
export function awaitsCopies(replicaSet: DeepReadonly<ReplicaSet>): boolean {
  const { metadata, spec } = replicaSet;
  if (pinnedConfigOf(spec.template) === undefined) return false;
  return (
    controllerOf(replicaSet)?.kind === 'Deployment' && readConfigCopies(metadata.annotations) === undefined
  );
}

/** Makes a new pod of a ReplicaSet read the copies. Changes and returns `pod`. */
export function readingCopies(pod: Pod, { metadata, spec }: DeepReadonly<ReplicaSet>): Pod {
  if (pinnedConfigOf(spec.template) === undefined) return pod;
  const copies = readConfigCopies(metadata.annotations);
  if (!copies) return pod;
  for (const { at, field, source } of configReferencesOf(pod.spec)) {
    const copy = ownField(copies, source);
    if (copy) Object.assign(at, { [field]: copy.name });
  }
  pod.metadata.annotations = { ...pod.metadata.annotations, [READS_COPIES]: metadata.name };
  return pod;
}

function isSource(source: string): boolean {
  return SOURCE_KINDS.some((kind) => source.startsWith(`${kind}/`));
}

function isNote(note: unknown): boolean {
  if (!isJsonObject(note) || !isShortText(note['name'], LONGEST_NAME)) return false;
  return note['digest'] === undefined || isShortText(note['digest'], LONGEST_NAME);
}
