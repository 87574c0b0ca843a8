import { isJsonObject, isList, ownField } from './json-values.js';

type Step = (values: readonly unknown[]) => unknown[];

/**
 * Compiles the JSON path of a printer column or a scale: fields, indexes, `[*]` and filters that compare one field
 * (`.status.conditions[?(@.type=="Ready")].status`). What is missing has no value.
 * Source: k8s.io/client-go/util/jsonpath.
 * @returns undefined for a path that cannot be read
 */
export function compileJsonPath(path: string): ((object: unknown) => unknown[]) | undefined {
  const steps: Step[] = [];
  const tokens =
    /\.?\['((?:[^'\\]|\\.)*)'\]|\.?\["((?:[^"\\]|\\.)*)"\]|\[(-?\d+)\]|(\[\*\]|\.\*)|\[\?\(\s*@((?:\.[\w-]+)+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+))\s*\)\]|\.((?:[^.[\]\\]|\\.)+)/y;
  while (tokens.lastIndex < path.length) {
    const found = tokens.exec(path);
    if (!found) return undefined;
    steps.push(stepOf(found));
  }
  return (object) => {
    let values: unknown[] = [object];
    for (const step of steps) {
      // A long path over a long list ends where it finds nothing, so that its work is linear in the object.
      if (values.length === 0) break;
      values = step(values);
    }
    return values;
  };
}

function stepOf(found: RegExpExecArray): Step {
  const [, quoted, doubleQuoted, index, all, filtered, operator, text, otherText, word, plain] = found;
  if (index !== undefined) return (values) => each(values, (value) => at(value, Number(index)));
  if (all !== undefined) return (values) => each(values, childrenOf);
  if (filtered !== undefined) {
    const read = compileJsonPath(filtered)!;
    const wanted = text ?? otherText ?? word ?? '';
    const isMatch = (item: unknown): boolean =>
      read(item).some((value) => isScalar(value) && String(value) === wanted) === (operator === '==');
    return (values) => each(values, (value) => childrenOf(value).filter(isMatch));
  }
  const name = (quoted ?? doubleQuoted ?? plain ?? '').replace(/\\(.)/g, '$1');
  return (values) => each(values, (value) => fieldOf(value, name));
}

/** A list or an object equals no text, and its `toString` may be a field that a user wrote. */
function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function each(values: readonly unknown[], next: (value: unknown) => readonly unknown[]): unknown[] {
  return values.flatMap(next);
}

function at(value: unknown, index: number): readonly unknown[] {
  if (!isList(value)) return [];
  const item = value.at(index);
  return item === undefined ? [] : [item];
}

function childrenOf(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function fieldOf(value: unknown, name: string): readonly unknown[] {
  if (!isJsonObject(value)) return [];
  const field = ownField(value, name);
  return field === undefined ? [] : [field];
}
