import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../../schema/index.js';
import { isSchema } from '../structural-defaults.js';

const STEP = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\])/;

/** The steps of a path such as `.spec.hosts['a.b']`; undefined for what is none. */
function stepsOf(path: string): string[] | undefined {
  const steps: string[] = [];
  let rest = path;
  while (rest !== '') {
    const [whole, name, quoted] = STEP.exec(rest) ?? [];
    if (whole === undefined) return undefined;
    steps.push(name ?? quoted!.replaceAll(/\\(.)/g, '$1'));
    rest = rest.slice(whole.length);
  }
  return steps;
}

/** How errors write the path that a rule gives. */
export function relativePath(path: string): string {
  return (stepsOf(path) ?? []).map((step) => `.${step}`).join('');
}

/**
 * Whether a path leads to a field that the schema describes. Source: ValidFieldPath in
 * apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.
 * @returns what is wrong with it
 */
export function checkRelativePath(path: string, schema: StructuralSchema): string | undefined {
  const steps = stepsOf(path);
  if (!steps) return `expected [ or . but got: ${path}`;
  let here: unknown = schema;
  for (const step of steps) {
    const { properties, additionalProperties }: StructuralSchema = isSchema(here) ? here : {};
    here = properties ? ownField(properties, step) : additionalProperties;
    if (!isSchema(here)) return 'does not refer to a valid field';
  }
  return undefined;
}
