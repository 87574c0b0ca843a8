import type { CustomResourceSubresourceScale } from '@rollkeeper/machinery/types/apiextensions-v1';
import { ownField, setField, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldError, ScaleMapping } from '../kind-definition.js';
import { invalid } from '../validation/field-errors.js';

/** Where a kind keeps the numbers of its Scale; the paths are simple ones, `.spec.replicas`. */
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

/** What a Scale could not say of an object. Source: ValidateScaleSpec and ValidateScaleStatus in apiextensions-apiserver. */
export function scaleErrors(
  object: unknown,
  scale: CustomResourceSubresourceScale | undefined,
): readonly FieldError[] {
  if (!scale) return [];
  return [scale.specReplicasPath, scale.statusReplicasPath].flatMap((path) => replicaErrors(object, path));
}

function replicaErrors(object: unknown, path: string): FieldError[] {
  const value = valueAt(object, path);
  if (value === undefined) return [];
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    const type = typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'bool' : 'float64';
    return isJsonObject(value) || Array.isArray(value)
      ? []
      : [invalid(path, 0, `${path} accessor error: ${String(value)} is of the type ${type}, expected int64`)];
  }
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')];
  if (value > MAX_REPLICAS) return [invalid(path, value, `should be less than or equal to ${MAX_REPLICAS}`)];
  return [];
}

const MAX_REPLICAS = 2 ** 31 - 1;

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
