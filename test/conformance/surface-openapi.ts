import type { Json, JsonObject } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';
import { objectAt, textAt } from './surface-requests.js';

/** A definition without its descriptions, which are not recorded. */
export function shownDefinition(value: Json | undefined): Json | undefined {
  if (!isJsonObject(value)) return value;
  const { properties, ...rest } = value;
  const shown = Object.entries(rest).filter(([name]) => name !== 'description');
  const all = isJsonObject(properties) ? Object.entries(properties) : [];
  return {
    ...Object.fromEntries(shown.map(([name, field]) => [name, shownDefinition(field)])),
    ...(properties !== undefined && {
      properties: Object.fromEntries(all.map(([name, field]) => [name, shownDefinition(field)])),
    }),
  };
}

/** An operation as it is recorded. */
export function shownOperation(operation: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(operation)) return undefined;
  const parameters = (operation.parameters ?? []) as readonly JsonObject[];
  return {
    operationId: operation.operationId,
    action: operation['x-kubernetes-action'],
    gvk: operation['x-kubernetes-group-version-kind'],
    consumes: operation.consumes,
    produces: operation.produces,
    parameters: parameters.map(parameterName).sort(),
  };
}

function parameterName(parameter: JsonObject): string {
  return textAt(objectAt(parameter, '$ref')).split('/').at(-1) || textAt(parameter.name);
}
