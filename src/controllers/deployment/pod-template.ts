import { createHash } from 'node:crypto';
import { stringifyJson } from '../../base/kubernetes/index.js';
import type { DeepReadonly, PodTemplateSpec } from '../../base/kubernetes/index.js';
import { semanticEqual } from './semantic-equality.js';

/** Tells the pods of one ReplicaSet of a Deployment from those of its siblings. */
export const POD_TEMPLATE_HASH = 'pod-template-hash';

type Template = DeepReadonly<PodTemplateSpec>;

/** Whether two templates ask for the same pods: equal but for the hash label that we add ourselves. */
export function equalIgnoringHash(a: Template, b: Template): boolean {
  return a === b || semanticEqual(withoutHash(a), withoutHash(b));
}

/** The template without the hash label, as a Deployment carries it. */
export function withoutHash(template: Template): PodTemplateSpec {
  if (template.metadata?.labels?.[POD_TEMPLATE_HASH] === undefined) return template as PodTemplateSpec;
  const { [POD_TEMPLATE_HASH]: _hash, ...labels } = template.metadata.labels;
  return { ...template, metadata: { ...template.metadata, labels } } as PodTemplateSpec;
}

/** Kubernetes' alphabet for generated names: no vowels, so no words; no characters that look alike. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const LENGTH = 10;

/**
 * A stable short hash of a template: independent of the order of keys and of empty fields. `collisionCount` gives
 * another one when the name is taken. Not the hash that Kubernetes computes, which depends on Go's memory layout:
 * ReplicaSets are found by their template, never by the hash.
 */
export function podTemplateHash(template: Template, collisionCount = 0): string {
  const digest = createHash('sha256')
    .update(stringifyJson(canonical(withoutHash(template))))
    .update(collisionCount === 0 ? '' : `#${collisionCount}`)
    .digest();
  let rest = digest.readUIntBE(0, 6);
  let text = '';
  for (let i = 0; i < LENGTH; i++) {
    text += ALPHABET.charAt(rest % ALPHABET.length);
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

/** The value with sorted keys and without empty fields; `undefined` for an empty one. */
function canonical(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((item) => canonical(item) ?? {});
  if (typeof value !== 'object') return value;
  const fields = Object.entries(value)
    .map(([key, field]) => [key, canonical(field)] as const)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}
