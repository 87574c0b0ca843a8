import type { DecodedObject, Pod } from '@rollkeeper/machinery/kubernetes';
import { sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../../kind-definition.js';
import { forbidden } from '../../validation/field-errors.js';

/**
 * Ephemeral containers can be added, and stay as they are from then on. Source: ValidatePodEphemeralContainersUpdate in
 * pkg/apis/core/validation/validation.go.
 */
export function validateAddedContainers(
  pod: DecodedObject<Pod>,
  old: DecodedObject<Pod>,
  errors: FieldError[],
): void {
  const path = 'spec.ephemeralContainers';
  const present = Map.groupBy(pod.spec?.ephemeralContainers ?? [], ({ name }) => name);
  for (const before of old.spec?.ephemeralContainers ?? []) {
    const name = JSON.stringify(before.name ?? '');
    const container = present.get(before.name)?.[0];
    if (!container)
      errors.push(forbidden(path, `existing ephemeral containers ${name} may not be removed\n`));
    else if (!sameMeaning(container, before))
      errors.push(forbidden(path, `existing ephemeral containers ${name} may not be changed\n`));
  }
}
