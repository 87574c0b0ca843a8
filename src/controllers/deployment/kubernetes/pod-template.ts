import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { POD_TEMPLATE_HASH, stableHash } from '../../shared/index.js';
import { markedStructs, sameStructs } from './optional-structs.js';

type Template = DeepReadonly<PodTemplateSpec>;

/** Whether two templates are equal except for the hash label that we add ourselves. */
export function equalIgnoringHash(a: Template, b: Template): boolean {
  if (a === b) return true;
  const [one, other] = [withoutHash(a), withoutHash(b)];
  return semanticEqual(one, other) && sameStructs(one, other);
}

/** The template without the hash label, as a Deployment carries it. */
export function withoutHash(template: Template): Template {
  if (template.metadata?.labels?.[POD_TEMPLATE_HASH] === undefined) return template;
  const { [POD_TEMPLATE_HASH]: _hash, ...labels } = template.metadata.labels;
  return { ...template, metadata: { ...template.metadata, labels } };
}

/**
 * A stable short hash of a template: independent of the order of keys and of empty fields. `collisionCount` varies it
 * when the name is taken. Not the hash that Kubernetes computes, which depends on Go's memory layout: ReplicaSets are
 * found by their template, never by the hash.
 */
export function podTemplateHash(template: Template, collisionCount = 0): string {
  return stableHash(markedStructs(withoutHash(template)), collisionCount);
}

/**
 * The same, ignoring empty structs that a server adds. Used for custom Deployments, whose ReplicaSets are also found by
 * it, so it must never change.
 */
export function customTemplateHash(template: Template, collisionCount = 0): string {
  return stableHash(withoutHash(template), collisionCount);
}
