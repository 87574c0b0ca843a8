import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import type { SourceName } from '../../../shared/index.js';
import { configReferencesOf } from '../../../shared/index.js';

/** How a template refers to a source. */
interface Reference {
  /** A pod cannot start without it. */
  readonly isRequired: boolean;
}

/** The ConfigMaps and Secrets that pods of the template read, each once. */
export function configReferences({
  spec,
}: DeepReadonly<PodTemplateSpec>): ReadonlyMap<SourceName, Reference> {
  const found = new Map<SourceName, Reference>();
  for (const { isOptional, source } of configReferencesOf(spec)) {
    const isRequired = !isOptional || found.get(source)?.isRequired === true;
    found.set(source, { isRequired });
  }
  return found;
}
