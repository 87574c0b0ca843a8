import { parseJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { compare } from './compare.js';
import { difference, union } from './field-set.js';
import type { FieldSet } from './field-set.js';
import { fieldsOf } from './fields-of.js';
import type { Shape } from './shape.js';

/** The annotation in which client-side `kubectl apply` keeps what it applied. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** @returns undefined when there is none, or none that can be read */
export function lastAppliedOf(object: unknown): Record<string, unknown> | undefined {
  const metadata = isJsonObject(object) ? object['metadata'] : undefined;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  const text = isJsonObject(annotations) ? annotations[LAST_APPLIED] : undefined;
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    const config: unknown = parseJson(text);
    return isJsonObject(config) ? config : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The fields set by client-side apply and unchanged since: kubectl may take them over when it switches to server-side
 * apply, regardless of their recorded owner. Source: `lastAppliedManager` of apimachinery.
 */
export function unchangedSinceLastApplied(live: unknown, shape: Shape): FieldSet | undefined {
  const config = lastAppliedOf(live);
  if (!config) return undefined;
  const found = compare(config, live, shape);
  return difference(fieldsOf(config, shape), union(found.modified, found.removed));
}
