import type { CustomResourceSubresourceScale } from '@rollkeeper/machinery/types/apiextensions-v1';
import { ownField, setField, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { ScaleMapping } from '../kind-definition.js';

/** Reads where a kind keeps the numbers of its Scale; the paths are simple ones, `.spec.replicas`. */
export function customScale({
  specReplicasPath,
  statusReplicasPath,
  labelSelectorPath,
}: CustomResourceSubresourceScale): ScaleMapping {
  const replicasPath = namesOf(specReplicasPath);
  return {
    replicasPath,
    read: (object) => ({
      specReplicas: asNumber(valueAt(object, specReplicasPath)),
      statusReplicas: asNumber(valueAt(object, statusReplicasPath)),
      selector: asText(labelSelectorPath ? valueAt(object, labelSelectorPath) : undefined),
    }),
    write(object, specReplicas) {
      const names = replicasPath.slice(0, -1);
      const last = replicasPath.at(-1) ?? '';
      let fields: Record<string, unknown> = object;
      for (const name of names) {
        const below = ownField(fields, name);
        const next = isJsonObject(below) ? below : {};
        setField(fields, name, next);
        fields = next;
      }
      setField(fields, last, specReplicas);
    },
  };
}

function namesOf(path: string): string[] {
  return path.split('.').filter((name) => name !== '');
}

function valueAt(object: unknown, path: string): unknown {
  return namesOf(path).reduce<unknown>(
    (value, name) => (isJsonObject(value) ? ownField(value, name) : undefined),
    object,
  );
}

function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
