import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, isJsonObject, stringifyJson, uncheckedObject } from '@rollkeeper/machinery/kubernetes';
import { ObjectLiteral, PatchLiteral, literalMismatch, toJson } from '../../../cel/index.js';
import type { KindDefinition } from '../../../kinds/index.js';
import { mergeConfig, partialPathsIn, shapeOfType } from '../../../schema/managed-fields/index.js';
import { applyPatch } from '../../../schema/patch/index.js';
import type { SchemaRegistry } from '../../../schema/index.js';
import type { CompiledMutation } from './compile-mutations.js';

/** The result of an expression has the wrong type, or does not fit the object. */
export class MutationError extends Error {}

/**
 * The object after one mutation. Sources: patch/smd.go and patch/json_patch.go in pkg/admission/plugin/policy/mutating of
 * apiserver.
 * @param given what the expression of the mutation gave
 * @throws MutationError; StatusError for a JSON patch that does not fit
 */
export function mutated(
  object: Readonly<UnstructuredObject>,
  { patchType }: Pick<CompiledMutation, 'patchType'>,
  given: unknown,
  { kind, schemas }: { readonly kind: KindDefinition; readonly schemas: SchemaRegistry },
): UnstructuredObject {
  if (patchType === 'JSONPatch') {
    const patch = stringifyJson(operationsOf(given));
    return applyPatch(object, { type: 'json', patch, schemas, schema: kind.schema }).object;
  }
  if (!(given instanceof ObjectLiteral))
    throw new MutationError('unsupported return type from ApplyConfiguration expression');
  refuseMismatch(given);
  const config = { ...jsonOf(given), apiVersion: apiVersionOf(kind.type), kind: kind.type.kind };
  const shape = shapeOfType(schemas, kind.schema);
  const { atomic, undeclared } = partialPathsIn(config, shape);
  if (undeclared.length > 0)
    throw new MutationError(
      `error applying patch: failed to convert patch object to typed object: ${undeclared[0]}: field not declared in schema`,
    );
  if (atomic.length > 0)
    throw new MutationError(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`,
    );
  return uncheckedObject(mergeConfig(object, config, shape));
}

function operationsOf(given: unknown): unknown[] {
  if (!Array.isArray(given))
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array');
  return given.map((operation: unknown) => {
    if (!(operation instanceof PatchLiteral))
      throw new MutationError(
        'type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch',
      );
    const value = operation.fields.get('value');
    if (value instanceof ObjectLiteral) refuseMismatch(value);
    return jsonOf(operation);
  });
}

function refuseMismatch(literal: ObjectLiteral): void {
  const mismatch = literalMismatch(literal);
  if (mismatch !== undefined) throw new MutationError(`type mismatch: ${mismatch}`);
}

function jsonOf(literal: ObjectLiteral | PatchLiteral): object {
  try {
    const json = toJson(literal);
    if (isJsonObject(json)) return json;
  } catch (error) {
    throw new MutationError('JSONPath valueExpression evaluated to a type that could not marshal to JSON', {
      cause: error,
    });
  }
  throw new MutationError('a literal is no object');
}
