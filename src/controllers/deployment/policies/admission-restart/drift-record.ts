import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isCount, isShortText, readJson } from '../../../shared/index.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import { PREFIX } from '../common/names.js';

/** On a Deployment: how its pods differ from what admission gives new ones today; none if they do not. */
export const ADMISSION_DRIFT = `${PREFIX}admission-drift`;

export interface DriftRecord {
  /** The hash of the template whose pods were compared. */
  readonly template: string;
  /** The digest of the specs that new pods get. */
  readonly digest: string;
  readonly stale: number;
  readonly pods: number;
  /** The parts that differ, for people. */
  readonly parts: readonly string[];
}

/** Undefined if there is none, or none that can be read. */
export function readDrift(annotations: Annotations | undefined): DriftRecord | undefined {
  const read = readJson(annotations?.[ADMISSION_DRIFT]);
  if (!isJsonObject(read)) return undefined;
  const { digest, parts, pods, stale, template } = read;
  if (!isShortText(digest, 64) || !isShortText(template, 64) || !isCount(stale) || !isCount(pods))
    return undefined;
  if (!Array.isArray(parts) || parts.length > 10) return undefined;
  const told = (parts as readonly unknown[]).filter((part) => isShortText(part, 500));
  return /^[0-9a-f]{1,64}$/.test(digest) ? { template, digest, stale, pods, parts: told } : undefined;
}

/** The same text for the same record. */
export function renderDrift({ digest, parts, pods, stale, template }: DriftRecord): string {
  return stringifyJson({ template, digest, stale, pods, parts });
}

/** `2 of 3 pods differ from what admission gives new ones: containers/istio-proxy/image`. */
export function driftSentence({ parts, pods, stale }: DriftRecord): string {
  return `${stale} of ${pods} pods differ from what admission gives new ones: ${parts.join(', ')}`;
}
