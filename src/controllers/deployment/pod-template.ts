import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { POD_TEMPLATE_HASH, stableHash } from '../shared/index.js';
import { markedStructs, sameStructs } from './optional-structs.js';

type Template = DeepReadonly<PodTemplateSpec>;

/** Whether two templates ask for the same pods: equal but for the hash label that we add ourselves. */
export function equalIgnoringHash(a: Template, b: Template): boolean {
  if (a === b) return true;
  const [one, other] = [withoutHash(a), withoutHash(b)];
  return semanticEqual(one, other) && sameStructs(one, other);
}

/** The template without the hash label, as a Deployment carries it. */
export function withoutHash(template: Template): PodTemplateSpec {
  if (template.metadata?.labels?.[POD_TEMPLATE_HASH] === undefined) return template as PodTemplateSpec;
  const { [POD_TEMPLATE_HASH]: _hash, ...labels } = template.metadata.labels;
  return { ...template, metadata: { ...template.metadata, labels } } as PodTemplateSpec;
}

/**
 * A stable short hash of a template: independent of the order of keys and of empty fields. `collisionCount` gives
 * another one when the name is taken. Not the hash that Kubernetes computes, which depends on Go's memory layout:
 * ReplicaSets are found by their template, never by the hash.
 */
export function podTemplateHash(template: Template, collisionCount = 0): string {
  return stableHash(markedStructs(withoutHash(template)), collisionCount);
}

/**
 * The same, whatever empty structs a server fills in: of custom Deployments, whose ReplicaSets are found by it as well, so that it must never
 * change.
 */
export function customTemplateHash(template: Template, collisionCount = 0): string {
  return stableHash(withoutHash(template), collisionCount);
}
